#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract of sweeps: a rerun continues the sweep, no result is lost, invalid sweeps are refused.

usage: sweep_command_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import csv
import json
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from sweep_checks import content, small_sweep

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


class Sweeps(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.sweep = small_sweep(SOURCE, [
            {"name": "size", "pointer": "/workload/size", "range": "1 KiB..32 KiB +1 KiB"},
            {"name": "ranks", "pointer": "/workload/ranks", "values": [2, 4, 8]},
        ])

    def arguments(self, out, *more):
        path = self.folder / "sweep.json"
        path.write_text(json.dumps(self.sweep))
        return [PROGRAM, "sweep", path, "--out", self.folder / out, "--jobs", "2", *more]

    def run_sweep(self, out, *more, **options):
        return subprocess.run(
            self.arguments(out, *more), capture_output=True, text=True, timeout=250, check=False, **options
        )

    def done(self, out, *more):
        result = self.run_sweep(out, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_all_points_run_once_and_stand_in_the_csv_too(self):
        self.assertIn("96 points, 96 done, 0 failed; 96 experiments ran now", self.done("out"))
        with open(self.folder / "out/results.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 96)
        self.assertEqual((rows[4]["size"], rows[4]["size_number"], rows[4]["ranks"]), ("2 KiB", "2048.0", "4"))
        self.assertEqual(rows[4]["ran_algorithm"], "ring")
        self.assertGreater(float(rows[4]["time_us"]), 1)
        self.assertIn("96 done, 0 failed; 0 experiments ran now", self.done("out"))

    def test_a_point_is_the_run_of_the_same_experiment(self):
        self.done("out")
        point = subprocess.run(
            [PROGRAM, "run", self.experiment(), "--json", "--set", "/workload/size=3 KiB", "--set",
             "/workload/ranks=8"],
            capture_output=True, text=True, check=True,
        )
        alone = json.loads(point.stdout)
        with sqlite3.connect(self.folder / "out/sweep.db") as database:
            row = database.execute(
                "SELECT digest, time_us FROM results WHERE size = '3 KiB' AND ranks = '8'"
            ).fetchone()
        self.assertEqual(row[0], alone["config_digest"])
        self.assertAlmostEqual(row[1], alone["scenarios"][0]["collectives"][0]["time_us"], 6)

    def experiment(self):
        path = self.folder / "experiment.json"
        path.write_text(json.dumps(self.sweep["experiment"]))
        return path

    def finished(self, out):
        """The number of runs in the sweep's database so far."""
        if not (self.folder / out / "sweep.db").exists():
            return 0
        with sqlite3.connect(self.folder / out / "sweep.db") as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
                return 0
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]

    def test_killed_ten_times_it_ends_as_if_undisturbed(self):
        self.sweep["axes"][0]["range"] = "64 KiB..1 MiB +4 KiB"
        self.done("whole")
        total = self.finished("whole")
        chance = random.Random(1)
        seen = []
        for target in sorted(chance.sample(range(1, total), 10)):
            with subprocess.Popen(self.arguments("killed"), stdout=subprocess.DEVNULL) as process:
                while process.poll() is None and self.finished("killed") < target:
                    time.sleep(0.001)
                time.sleep(chance.uniform(0, 0.01))
                process.kill()
            seen.append(self.finished("killed"))
        self.assertEqual(seen, sorted(seen))  # the number of runs never decreases
        self.assertGreater(len(set(seen)), 1)
        self.done("killed")
        self.assertEqual(content(self.folder / "killed"), content(self.folder / "whole"))

    def test_a_changed_sweep_runs_only_what_is_new(self):
        self.done("out")
        self.sweep["axes"][1]["values"] = [2, 4, 6]
        self.assertIn("96 done, 0 failed; 32 experiments ran now", self.done("out"))

    def test_a_failed_point_is_told_and_the_others_go_on(self):
        self.sweep["axes"][0]["values"] = ["1 KiB", "2 KiB"]
        del self.sweep["axes"][0]["range"]
        self.sweep["axes"][1]["values"] = [2, 1024]
        self.sweep["experiment"]["system"] = {
            "$base": str(SOURCE / "configs/systems/dgx_h100_ndr.json"), "topology": {"nodes": 128}}
        if b"__asan_init" in PROGRAM.read_bytes():
            self.skipTest("AddressSanitizer's memory cannot be limited")
        # Workers get little memory beyond what they inherit, so machines of 1,024 GPUs do not fit.
        result = self.run_sweep("out", "--memory", "4 MiB")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(result.stdout, r"4 points, [0-2] done, [2-4] failed; 4 experiments ran now")
        self.assertRegex(result.stderr, r"failed: size=\d KiB, ranks=1024: needs more than the 4 MiB")
        self.assertRegex(self.done("out"), r"4 done, 0 failed; [2-4] experiments ran now")

    def test_two_sweeps_in_one_folder(self):
        self.sweep["axes"][0]["range"] = "1 MiB..64 MiB +1 MiB"
        with subprocess.Popen(self.arguments("out"), stdout=subprocess.DEVNULL) as first:
            deadline = time.time() + 120
            while not (self.folder / "out/sweep.db").exists() and time.time() < deadline:
                time.sleep(0.02)
            second = self.run_sweep("out")
            first.kill()
        self.assertEqual(second.returncode, 2)
        self.assertRegex(second.stderr, r"out: /: is in use by another sweep \(process \d+ on .+\)")

    def test_a_full_disk_keeps_what_is_there(self):
        self.sweep["axes"][0]["range"] = "1 KiB..256 KiB +1 KiB"

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        result = self.run_sweep("out", preexec_fn=small_files)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"sweep\.db: /: cannot .*: ")
        self.done("out")
        self.done("whole")
        self.assertEqual(content(self.folder / "out"), content(self.folder / "whole"))

    def test_bad_sweeps_leave_nothing_behind(self):
        self.sweep["axes"][0]["pointer"] = "/workload/sise"
        result = self.run_sweep("out")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r'sweep\.json: /axes/0: .*did you mean "size"\?')
        self.assertFalse((self.folder / "out").exists())

    def test_another_sweeps_folder_is_refused(self):
        self.done("out")
        self.sweep["name"] = "other"
        result = self.run_sweep("out")
        self.assertEqual(result.returncode, 2)
        self.assertIn("give another folder", result.stderr)


if __name__ == "__main__":
    unittest.main()
