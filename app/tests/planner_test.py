#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""switchfold plan: the plans that it finds, the files that it writes, the inputs that it refuses.

usage: planner_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
EXPERIMENT = {
    "name": "small",
    "system": str(SOURCE / "configs/systems/hgx_h100.json"),
    "causes": False,
    "workload": {
        "type": "training", "gradient": "bfloat16",
        "network": {"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 2048},
    },
    "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}],
    "planner": {
        "global_batch": 8, "gpus": 4, "pipeline": [1, 2], "micro_batch": [2], "sharding": ["none"], "sequence": "no",
        "recompute": ["none"], "schedule": ["1f1b"],
    },
}


class Planner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "small.json"

    def plan(self, *arguments, experiment=None, code=0):
        self.file.write_text(json.dumps(experiment or EXPERIMENT), encoding="utf-8")
        done = subprocess.run([PROGRAM, "plan", self.file, *map(str, arguments)], capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_the_plan_that_it_writes_runs_as_it_says(self):
        out = self.folder / "out"
        answer = json.loads(self.plan("--out", out, "--json"))
        self.assertTrue(answer["proved"])
        best = answer["best"][0]
        self.assertLessEqual(best["bound_s"], best["step_s"])
        self.assertLessEqual(answer["best_if_overlap_were_free"]["step_without_contention_s"], best["step_s"])
        ran = subprocess.run([PROGRAM, "run", out / "plan.json", "--json"], capture_output=True, text=True, timeout=200,
                             check=True)
        self.assertAlmostEqual(json.loads(ran.stdout)["scenarios"][0]["iteration_us"] * 1e-6, best["step_s"], 9)
        with (out / "plans.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows[0]["plan"], best["name"])
        self.assertEqual(len(rows), answer["simulated"])
        self.assertEqual(self.plan("--out", out, "--json", "--budget", "0"), json.dumps(answer, indent=2) + "\n",
                         "all is known")
        self.assertEqual(self.plan("--json", "--jobs", "1"), json.dumps(answer, indent=2) + "\n")

    def test_a_budget_says_what_it_left_open(self):
        text = self.plan("--budget", "1", "--jobs", "1")
        self.assertIn("not proved: the budget left", text)
        self.assertIn("the budget did not suffice to tell which plan would win if overlap were free", text)
        self.assertIn("1 plan simulated", text)

    def test_refusals_name_their_place(self):
        errors = {
            "/planner/global_batch": {"planner": {}},
            "/planner: is missing": {"planner": None},
            "/planner/schedule/0: is \"1f1\"": {"planner": {"global_batch": 8, "schedule": ["1f1"]}},
            "the batch refuses": {"planner": {"global_batch": 7, "tensor": [1], "pipeline": [1]}},
            "/workload/type: has no plans to choose from": {"workload": {"type": "collective", "size": "1 MiB"}},
        }
        for expected, change in errors.items():
            self.assertIn(expected, self.plan(experiment=EXPERIMENT | change, code=2))
        self.assertIn("expected one such as 200", self.plan("--budget", "soon", code=2))
        done = subprocess.run([PROGRAM, "plan"], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr.strip()),
                         (2, "plan: /: names no experiment; expected its file, or plan memory"))


if __name__ == "__main__":
    unittest.main()
