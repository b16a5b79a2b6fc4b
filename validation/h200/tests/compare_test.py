# SPDX-License-Identifier: Apache-2.0
"""Compares two traces of the same steps with known differences."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import compare  # noqa: E402


def kernel(name, us, step=0, grid=8):
    return {
        "name": name,
        "step": step,
        "phase": "backward",
        "grid": [grid, 1, 1],
        "block": [256, 1, 1],
        "duration_ps": round(us * 1e6),
    }


class Compare(unittest.TestCase):
    def setUp(self):
        self.ours = [kernel(f"k{i % 3}", 10 + i, step=i // 5) for i in range(10)]

    def test_the_same_is_the_same(self):
        found = compare.compare(self.ours, self.ours)
        self.assertEqual(found["paired"], 10)
        self.assertEqual(found["same_shape"], 10)
        self.assertEqual(found["same_phase"], 10)
        self.assertEqual(found["only_ours"] + found["only_theirs"], 0)
        self.assertEqual(found["duration_ratio"]["median"], 1)

    def test_a_missing_kernel_does_not_shift_the_others(self):
        theirs = self.ours[:3] + self.ours[4:]
        found = compare.compare(self.ours, theirs)
        self.assertEqual((found["paired"], found["only_ours"], found["only_theirs"]), (9, 1, 0))
        self.assertEqual(found["duration_ratio"]["high"], 1)

    def test_shapes_phases_and_times_are_compared(self):
        theirs = [dict(k, duration_ps=2 * k["duration_ps"]) for k in self.ours]
        theirs[0]["grid"] = [9, 1, 1]
        theirs[1]["phase"] = "forward"
        found = compare.compare(self.ours, theirs)
        self.assertEqual((found["same_shape"], found["same_phase"]), (9, 9))
        self.assertEqual(found["duration_ratio"]["median"], 0.5)
        self.assertAlmostEqual(found["total_us_theirs"], 2 * found["total_us_ours"])

    def test_counted_bytes_are_means_of_like_kernels(self):
        counted = [
            dict(kernel("a", 1), bytes_from="counters", bytes_read=10, bytes_written=2),
            dict(kernel("a", 1), bytes_from="counters", bytes_read=20),
            dict(kernel("a", 1), bytes_from="shapes", bytes_read=99),
            kernel("b", 1),
        ]
        self.assertEqual(
            compare.counted_bytes(counted),
            {("a", (8, 1, 1), (256, 1, 1)): {"bytes_read": 15, "bytes_written": 1}},
        )

    def test_reads_the_kernels_of_the_own_format(self):
        lines = [
            {"type": "trace", "version": 1},
            {"type": "name", "text": "host"},
            {"type": "name", "text": "gemm"},
            {"type": "rank", "rank": 0},
            {"type": "host", "name": 0, "stream": 0},
            {"type": "kernel", "name": 1, "stream": 1, "duration_ps": 5},
            {"type": "end", "records": 6},
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(json.dumps(line) for line in lines))
            file.flush()
            kernels = compare.read_kernels(file.name)
        self.assertEqual([k["name"] for k in kernels], ["gemm"])


if __name__ == "__main__":
    unittest.main()
