#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/build_progress.py counts ninja's edges and estimates the remaining build time."""
import importlib.util
import pathlib
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "build_progress.py"
SPEC = importlib.util.spec_from_file_location("build_progress", PROGRAM)
build_progress = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(build_progress)


class BuildProgress(unittest.TestCase):
    def test_what_is_left_goes_at_the_pace_of_what_is_done(self):
        self.assertEqual(build_progress.message(5, 20, 30.0), "5 of 20 built in 0:30, about 1:30 left")
        self.assertEqual(build_progress.message(20, 20, 61.2), "20 of 20 built in 1:01, about 0:00 left")

    def test_only_edges_count(self):
        self.assertIsNone(build_progress.EDGE.match("core/json.cpp:12:3: error: no"))
        self.assertIsNone(build_progress.EDGE.match("[12/80] Building without a time"))
        self.assertEqual(build_progress.EDGE.match("[12/80 3.250] Building CXX object x")[3], "3.250")

    def test_it_ends_with_its_input(self):
        done = subprocess.run([sys.executable, PROGRAM], input="[1/2 1.0] a\n[2/2 2.0] b\n", text=True,
                              capture_output=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
