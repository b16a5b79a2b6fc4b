#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests near their limits are named."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "close_limits.py"


def said(times, limits):
    cases = "".join(f'<testcase name="{name}" time="{time}" status="run"/>' for name, time in times.items())
    tests = [
        {"name": name, "properties": [{"name": "LABELS", "value": ["fast"]}]
         + ([{"name": "TIMEOUT", "value": limit}] if limit else [])}
        for name, limit in limits.items()
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
        report.write(f"<testsuite>{cases}</testsuite>")
        report.flush()
        done = subprocess.run([sys.executable, SCRIPT, report.name], input=json.dumps({"tests": tests}),
                              capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


class CloseLimits(unittest.TestCase):
    def test_names_those_above_a_fifth_the_slowest_first(self):
        lines = said({"quick": 59, "slow": 61, "slower": 130, "unlimited": 900},
                     {"quick": 300, "slow": 300, "slower": 600.0, "unlimited": None, "not_run": 1})
        self.assertEqual(lines, ["slower took 130 s of 600 s: make it faster, or its TIMEOUT 5 times that",
                                 "slow took 61 s of 300 s: make it faster, or its TIMEOUT 5 times that"])

    def test_says_nothing_of_tests_far_from_their_limits(self):
        self.assertEqual(said({"a": 1}, {"a": 300}), [])


if __name__ == "__main__":
    unittest.main()
