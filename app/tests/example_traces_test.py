#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The traces that ship: four, small, listed in the gallery, marked as no real run's, and each starts an experiment that runs.
Those that the simulator made are what their script makes, but for times, which follow the models.

usage: example_traces_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
FOLDER = SOURCE / "configs/examples"
TRACES = sorted(p for p in FOLDER.iterdir() if ".json" in p.name)
SMALL = 65_536


def switchfold(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250, check=False,
                          cwd=SOURCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def untimed(path):
    """The records of a trace without their times and counts of bytes, which kernel models say."""
    kept = []
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        record = json.loads(line)
        kept.append({key: value for key, value in record.items() if not key.endswith("_ps") and key not in (
            "after", "written_by", "bytes_read", "bytes_written", "grid", "block")})
    return kept


class ExampleTraces(unittest.TestCase):
    def test_four_small_ones_stand_in_the_gallery(self):
        gallery = (SOURCE / "configs/README.md").read_text(encoding="utf-8")
        self.assertEqual(len(TRACES), 4)
        for trace in TRACES:
            self.assertLess(trace.stat().st_size, SMALL)
            self.assertIn(f"| `{trace.name}` |", gallery)

    def test_each_says_what_it_is_and_starts_an_experiment(self):
        with tempfile.TemporaryDirectory() as folder:
            for trace in TRACES:
                with self.subTest(trace.name):
                    checked = switchfold("trace", "check", trace)
                    self.assertIn("synthetic: no real run behind it", checked)
                    self.assertIn("verdict: replayable", checked)
                    mine = pathlib.Path(folder) / f"{trace.name}.mine.json"
                    switchfold("new", "experiment", "--trace", trace, "--system", "hgx_h100", "-o", mine)
                    table = switchfold("run", mine, "--set", "/causes=false")
                    self.assertIn("no real run behind it", table)
                    self.assertRegex(table, r"(?m)^ring +[0-9.]+ [um]s +[0-9.]+ [um]s")
                    self.assertNotRegex(table, r"(?m)^ring +0\.0 us")  # phases are known

    def test_simulated_ones_are_what_their_script_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([SOURCE / "scripts/make_simulated_traces", PROGRAM, folder], check=True)
            made = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual([p.name for p in made], [t.name for t in TRACES if "simulated" in t.name])
            for path in made:
                self.assertEqual(untimed(path), untimed(FOLDER / path.name))


if __name__ == "__main__":
    unittest.main()
