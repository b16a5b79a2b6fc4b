# SPDX-License-Identifier: Apache-2.0
"""Computes slowdowns of kernels whose slowdown is known."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import slowdown  # noqa: E402


def kernel(name, us, grid=(8, 1, 1)):
    return {
        "name": name,
        "grid": list(grid),
        "block": [256, 1, 1],
        "registers": 32,
        "shared_bytes": 0,
        "us": us,
    }


def run(factor=1.0, extra=()):
    return [
        kernel("gemm", 100 * factor),
        kernel("relu", 10),
        kernel("gemm", 200 * factor),
        kernel("gemm", 50, grid=(4, 1, 1)),
        kernel("tiny", 1),
        *extra,
    ]


class Slowdown(unittest.TestCase):
    def setUp(self):
        self.kernels = slowdown.Kernels([run(), run(1.01), run(0.99)], least_us=3)

    def test_kernels_of_one_name_and_shape_are_one_row(self):
        table = {(row["name"], row["grid"][0]): row for row in self.kernels.table()}
        self.assertEqual(len(table), 3)
        self.assertAlmostEqual(table[("gemm", 8)]["alone_us"], 150)
        self.assertEqual(table[("gemm", 8)]["places"], 2)
        self.assertNotIn(("tiny", 8), table)

    def test_slowdown_is_found_where_it_is(self):
        rows = self.kernels.beside([run(1.2), run(1.3), run(1.25)])
        table = self.kernels.table()
        by_name = {
            (table[r["kernel"]]["name"], table[r["kernel"]]["grid"][0]): r for r in rows
        }
        gemm = by_name[("gemm", 8)]
        self.assertAlmostEqual(gemm["us"], 150 * 1.25)
        self.assertAlmostEqual(gemm["low_us"], 150 * 1.2)
        self.assertAlmostEqual(gemm["high_us"], 150 * 1.3)
        self.assertEqual(gemm["passes"], 3)
        self.assertAlmostEqual(by_name[("relu", 8)]["us"], 10)

    def test_total_is_weighted_with_time(self):
        rows = self.kernels.beside([run(2.0)])
        # 100 + 10 + 200 + 50 alone, and 300 more beside the mover.
        total = slowdown.total_slowdown(self.kernels.table(), rows)
        self.assertAlmostEqual(total, 660 / 360)

    def test_kernels_that_do_not_run_in_every_pass_are_counted_and_left_out(self):
        kernels = slowdown.Kernels([run(), run(extra=[kernel("rare", 30)])], least_us=3)
        self.assertEqual(kernels.unsteady, 1)
        self.assertNotIn("rare", [row["name"] for row in kernels.table()])

    def test_a_pass_without_the_kernel_does_not_count(self):
        rows = self.kernels.beside([run(1.5), [kernel("relu", 11)]])
        passes = {self.kernels.order[r["kernel"]][0]: r["passes"] for r in rows}
        self.assertEqual(passes, {"gemm": 1, "relu": 2})


if __name__ == "__main__":
    unittest.main()
