#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps and searches for plans by Slurm, on a temporary cluster: scripts/slurm/local_cluster slurm_test.py ...

usage: slurm_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import concurrent.futures
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from sweep_checks import content, small_sweep

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


class Slurm(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "it's a folder"
        self.folder.mkdir()

    def arguments(self, out, *more, most="24 KiB"):
        path = self.folder / "sweep.json"
        axes = [{"name": "size", "pointer": "/workload/size", "range": f"1 KiB..{most} +1 KiB"}]
        path.write_text(json.dumps(small_sweep(SOURCE, axes, ranks=4)))
        return [PROGRAM, "sweep", path, "--out", self.folder / out, *more]

    def run_sweep(self, *arguments, **options):
        return subprocess.run(
            self.arguments(*arguments, **options), capture_output=True, text=True, timeout=120, check=False)

    def test_the_same_database_as_here(self):
        prologue = self.folder / "prologue.sh"
        prologue.write_text(f"touch '{self.folder.parent}/read'\n")
        far = self.run_sweep("far", "--executor", "slurm", "--tasks", "3", "--prologue", prologue, "--sbatch=--time=5")
        self.assertEqual(far.returncode, 0, far.stderr)
        self.assertIn("24 done, 0 failed; 24 experiments ran now", far.stdout)
        self.assertTrue((self.folder.parent / "read").exists())
        near = self.run_sweep("near")
        self.assertEqual(near.returncode, 0, near.stderr)
        self.assertEqual(content(self.folder / "far"), content(self.folder / "near"))
        self.assertEqual(
            (self.folder / "far/results.csv").read_bytes(), (self.folder / "near/results.csv").read_bytes())
        again = self.run_sweep("far", "--executor", "slurm")
        self.assertIn("0 experiments ran now", again.stdout)

    def test_what_a_killed_task_did_not_come_to_is_submitted_again(self):
        # The first task to start dies at once; the second round runs its points.
        prologue = self.folder / "prologue.sh"
        mark = self.folder.parent / "mark"
        prologue.write_text(f"mkdir '{mark}' 2>/dev/null && kill -9 $$\n: rest\n")
        result = self.run_sweep("out", "--executor", "slurm", "--tasks", "2", "--prologue", prologue)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("24 done, 0 failed", result.stdout)
        self.assertTrue(mark.exists())

    def test_a_killed_sweep_goes_on(self):
        arguments = self.arguments("out", "--executor", "slurm", "--tasks", "2", most="512 KiB")
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as process:
            deadline = time.time() + 120
            while not list((self.folder / "out").glob("slurm/*/part-*/sweep.db")) and time.time() < deadline:
                time.sleep(0.1)
            process.send_signal(signal.SIGKILL)
        result = self.run_sweep("out", "--executor", "slurm", "--tasks", "2", most="512 KiB")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("512 done, 0 failed", result.stdout)

    def test_tasks_that_cannot_run_are_told(self):
        prologue = self.folder / "prologue.sh"
        prologue.write_text("exit 9\n")
        result = self.run_sweep("out", "--executor", "slurm", "--prologue", prologue)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"--executor: /: job \d+ ended and brought no result; .*log")

    def test_what_sbatch_refuses_is_told(self):
        result = self.run_sweep("out", "--executor", "slurm", "--sbatch=--partition=nowhere")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"--executor: /: sbatch refused: .*partition")

    def plan(self, out, *more, code=0):
        path = self.folder / "plan.json"
        path.write_text(json.dumps({
            "name": "small", "system": str(SOURCE / "configs/systems/hgx_h100.json"), "causes": False,
            "workload": {"type": "training", "network": {
                "type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 2048}},
            "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}],
            "planner": {"global_batch": 8, "gpus": 4, "pipeline": [1, 2], "micro_batch": [2], "sharding": ["none"],
                        "sequence": "no", "recompute": ["none"], "schedule": ["1f1b"]}}))
        done = subprocess.run([PROGRAM, "plan", path, "--out", self.folder / out, "--json", *more], capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_the_same_plan_as_here(self):
        far = json.loads(self.plan("far", "--executor", "slurm", "--tasks", "2", "--set", "/planner/micro_batch=[1,2]"))
        near = json.loads(self.plan("near", "--set", "/planner/micro_batch=[1,2]"))
        self.assertTrue(far["proved"])
        self.assertEqual(far["best"][0], near["best"][0])
        self.assertEqual(far["best_if_overlap_were_free"], near["best_if_overlap_were_free"])
        self.assertEqual(
            (self.folder / "far/plan.json").read_bytes(), (self.folder / "near/plan.json").read_bytes())
        # The search can be continued locally or on the cluster.
        again = json.loads(self.plan("far", "--budget", "0", "--set", "/planner/micro_batch=[1,2]"))
        self.assertEqual(again["best"], far["best"])
        more = json.loads(self.plan("far", "--executor", "slurm", "--tasks", "2", "--set", "/planner/micro_batch=[1,2,4]"))
        self.assertLessEqual(more["best"][0]["step_s"], far["best"][0]["step_s"])

    def test_plans_that_cannot_be_run_there_are_told(self):
        prologue = self.folder / "prologue.sh"
        prologue.write_text("exit 9\n")
        self.assertRegex(
            self.plan("out", "--executor", "slurm", "--prologue", prologue, code=2),
            r"--executor: /: job \d+ ended and brought no result; .*log")


def run_beside_each_other():
    """Runs all tests at once: most of their time is Slurm's, which looks for work once a second."""
    tests = list(unittest.defaultTestLoader.loadTestsFromTestCase(Slurm))
    with concurrent.futures.ThreadPoolExecutor(len(tests)) as pool:
        results = list(pool.map(lambda test: test.run(), tests))
    for result in results:
        for test, trace in result.failures + result.errors:
            print(f"{test.id()}\n{trace}", file=sys.stderr)
    print(f"{sum(result.testsRun for result in results)} tests ran")
    return all(result.wasSuccessful() for result in results)


if __name__ == "__main__":
    sys.exit(not run_beside_each_other())
