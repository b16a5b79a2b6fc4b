#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The committed example trace equals the generator's current output, and is marked as synthetic.

usage: example_trace_test.py COMMITTED.json.gz
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GENERATOR = pathlib.Path(__file__).resolve().parents[1] / "make_example_trace.py"
COMMITTED = pathlib.Path(sys.argv.pop(1))


class ExampleTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = gzip.decompress(COMMITTED.read_bytes())
        cls.trace = json.loads(cls.text)
        cls.events = [e for e in cls.trace["traceEvents"] if e["ph"] == "X"]

    def test_regenerates_to_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "trace.json.gz")
            subprocess.run([sys.executable, str(GENERATOR), str(out)], check=True)
            again = out.read_bytes()
        # Compressed bytes may differ between zlib versions; the text must not.
        self.assertTrue(gzip.decompress(again) == self.text, f"stale: run {GENERATOR} {COMMITTED}")
        self.assertEqual(again[4:8], b"\0\0\0\0")  # no time in the header

    def test_says_that_it_is_made_up_and_is_small(self):
        self.assertIs(self.trace["switchfold_synthetic"], True)
        self.assertIn("synthetic", self.trace["traceName"])
        self.assertLess(COMMITTED.stat().st_size, 300_000)

    def test_a_stream_does_one_thing_at_a_time(self):
        streams = collections.defaultdict(list)
        for e in self.events:
            self.assertGreater(e["dur"], 0, e)
            if e["cat"] in ("kernel", "gpu_memcpy"):
                streams[e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        self.assertEqual(sorted(streams), [7, 20])
        for spans in streams.values():
            for (_, end), (start, _) in zip(spans, spans[1:]):
                self.assertGreaterEqual(start, end)

    def test_kernels_have_a_launch_before_them(self):
        calls = {e["args"].get("correlation"): e for e in self.events if e["cat"] == "cuda_runtime"}
        for e in self.events:
            if e["cat"] in ("kernel", "gpu_memcpy"):
                call = calls[e["args"]["correlation"]]
                self.assertLessEqual(call["ts"] + call["dur"], e["ts"])
                self.assertEqual(call["args"]["External id"], e["args"]["External id"])

    def test_every_gradient_is_reduced_once_a_step(self):
        sizes = [
            e["args"]["In msg nelems"] for e in self.events if "In msg nelems" in e["args"]
        ]
        self.assertEqual(len(sizes) % 2, 0)
        half = len(sizes) // 2
        self.assertEqual(sizes[:half], sizes[half:])
        self.assertEqual(sum(sizes[:half]), 25_557_032)
        # A bucket closes when full: the first holds at least 1 MiB, the others but the last 25 MiB.
        self.assertGreaterEqual(sizes[0] * 4, 1 << 20)
        for size in sizes[1 : half - 1]:
            self.assertGreaterEqual(size * 4, 25 << 20)

    def test_convolutions_are_resnet50s(self):
        shapes = [
            e["args"]["Input Dims"] for e in self.events if e["name"] == "aten::cudnn_convolution"
        ]
        self.assertEqual(len(shapes), 2 * 53)
        macs = 0
        for x, w in shapes[:53]:
            # A 1x1 layer of stride 2 is a projection; a larger layer of stride 2 begins a stage.
            macs += w[0] * w[1] * w[2] * w[3] * self.out_pixels(x, w)
        # 4.09 GMAC per image, of which the classifier takes 2.05 M. (He et al. give 3.8e9 for
        # stride in the 1x1 layer, torchvision 4.09e9.)
        self.assertEqual(macs + 2048 * 1000, 4_089_184_256)

    @staticmethod
    def out_pixels(x, w):
        size, inputs, outputs, kernel = x[2], w[1], w[0], w[2]
        entry = {56: 128, 28: 256, 14: 512}.get(size)  # width of the stage that begins here
        strided = (
            kernel == 7
            or (kernel == 3 and inputs == outputs == entry)
            or (kernel == 1 and outputs == 2 * inputs)
        )
        return (size // 2 if strided else size) ** 2


if __name__ == "__main__":
    unittest.main()
