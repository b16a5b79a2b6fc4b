#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intervals of runs, sweeps and searches for plans, from made-up residuals.

usage: intervals_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import csv
import json
import unittest

from command_line_checks import COLLECTIVE, EXAMPLE, Folder, SOURCE
from made_up_residuals import root_with_residuals, root_without_residuals

RING = {"name": "ring", "all_reduce": {"algorithm": "ring"}}


def ratio(interval):
    return interval["high"] / interval["low"]


class Intervals(Folder):
    def setUp(self):
        super().setUp()
        self.root = root_with_residuals(self.folder, SOURCE)

    def run_json(self, experiment, *arguments):
        return json.loads(self.done("run", experiment, "--json", *arguments, cwd=self.root))

    def test_a_step_has_intervals_and_its_gain_is_tighter(self):
        scenarios = self.run_json(EXAMPLE, "--set", "/causes=false")["scenarios"]
        for s in scenarios:
            for figure in ("iteration_us", "forward_us", "backward_us", "exposed_communication_us", "speedup", "backward_slowdown"):
                interval = s["intervals"][figure]
                self.assertTrue(interval["measured"], (figure, interval))
                self.assertLessEqual(interval["low"], s[figure] + 1e-5, figure)
                self.assertGreaterEqual(interval["high"], s[figure] - 1e-5, figure)
        ring = scenarios[1]["intervals"]
        self.assertGreater(ratio(ring["iteration_us"]), 1.1)
        self.assertLess(ratio(ring["iteration_us"]), 1.4)
        self.assertLess(ratio(ring["speedup"]) - 1, 0.5 * (ratio(ring["iteration_us"]) - 1))
        self.assertRegex(ring["iteration_us"]["like"], r"measured collectives? on 12 kinds of machine")
        self.assertIn("kernel", ring["iteration_us"]["like"])
        self.assertEqual(scenarios[0]["intervals"]["speedup"]["low"], 1)  # against itself
        self.assertFalse(scenarios[1]["intervals"]["exposed_copies_us"]["measured"])

    def test_equal_runs_have_equal_intervals_and_the_report_shows_them_again(self):
        first = self.done("run", EXAMPLE, "--out", self.folder / "a", "--set", "/causes=false", cwd=self.root)
        again = self.run_json(EXAMPLE, "--set", "/causes=false")
        written = json.loads((self.folder / "a/result.json").read_text())
        self.assertEqual([s["intervals"] for s in written["scenarios"]], [s["intervals"] for s in again["scenarios"]])
        table = first[: first.index("\nresults: ")]
        self.assertEqual(self.done("report", "--text", self.folder / "a"), table)
        self.assertRegex(table, r"(?m)^90 % of such cases .* iteration ")
        self.assertRegex(table, r"(?m)^ring .* [\d.]+ to [\d.]+")
        self.assertLessEqual(max(len(line) for line in table.splitlines() if " to " in line and "us" in line), 160)

    def test_a_collective_has_the_range_of_those_like_it(self):
        scenario = self.run_json(self.experiment(scenarios=[RING]))["scenarios"][0]
        collective = scenario["collectives"][0]
        time, rate = collective["intervals"]["time_us"], collective["intervals"]["bus_bandwidth_GBps"]
        self.assertGreater(ratio(time), 1.1)
        self.assertAlmostEqual(time["low"] / collective["time_us"], collective["bus_bandwidth_GBps"] / rate["high"], places=4)
        self.assertAlmostEqual(ratio(scenario["intervals"]["iteration_us"]), ratio(time), places=4)
        table = self.done("run", self.experiment(scenarios=[RING]), cwd=self.root)
        self.assertRegex(table, r"(?m)^intervals: 90 % of \d+ measured collectives on \d+ kinds of machine$")

    def test_what_nobody_measured_is_unmeasured(self):
        push = {"name": "push", "all_reduce": {"algorithm": "in_switch", "mode": "push"}}
        scenario = self.run_json(self.experiment(scenarios=[push]))["scenarios"][0]
        interval = scenario["collectives"][0]["intervals"]["time_us"]
        self.assertEqual((interval["measured"], interval["low"]), (False, None))
        self.assertIn("no switch that reduces by push was measured", interval["like"])
        table = self.done("run", self.experiment(scenarios=[push]), cwd=self.root)
        self.assertIn("intervals: unmeasured: no switch that reduces by push was measured\n", table)

    def test_a_sweep_has_the_ends_as_columns(self):
        path = self.folder / "sweep.json"
        path.write_text(json.dumps({
            "name": "sizes", "experiment": {**COLLECTIVE, "scenarios": [RING]},
            "axes": [{"name": "size", "pointer": "/workload/size", "values": ["64 KiB", "1 MiB"]}]}))
        self.done("sweep", path, "--out", self.folder / "out", cwd=self.root)
        with open(self.folder / "out/results.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2)
        for row in rows:
            for figure in ("time_us", "bus_bandwidth_GBps", "iteration_us"):
                low, value, high = (float(row[figure + end]) for end in ("_at_least", "", "_at_most"))
                self.assertLess(low, value)
                self.assertLess(value, high)
            self.assertIn("measured collectives", row["intervals_like"])

    def test_what_was_measured_on_the_very_machine_is_asked_alone(self):
        mine = self.folder / "mine.json"
        mine.write_text(json.dumps({"$base": COLLECTIVE["system"], "name": "mine"}))
        path = self.experiment(scenarios=[RING], system=str(mine))
        wide = self.run_json(path)["scenarios"][0]["intervals"]["iteration_us"]
        rows = [(self.root / "validation/data/residuals.csv").read_text().splitlines()[0]]
        rows += [f"collective,all_reduce,,Hopper,switched,0,0,8,1,mine,logs,{0.002 * i},unseen" for i in range(9)]
        (self.folder / "mine.residuals.csv").write_text("\n".join(rows) + "\n")
        narrow = self.run_json(path)["scenarios"][0]["intervals"]["iteration_us"]
        self.assertIn("measured collectives of this machine", narrow["like"])
        self.assertLess(ratio(narrow) - 1, 0.2 * (ratio(wide) - 1))
        (self.folder / "mine.residuals.csv").write_text("kind,operation\n")
        self.refused("run", path, says=["mine.residuals.csv", "has no column"])

    def test_a_search_for_plans_tells_how_well_a_step_is_known(self):
        path = self.folder / "plans.json"
        path.write_text(json.dumps({
            "name": "small", "system": COLLECTIVE["system"], "causes": False, "scenarios": [RING],
            "workload": {"type": "training", "gradient": "bfloat16", "network": {
                "type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 2048}},
            "planner": {"global_batch": 8, "gpus": 4, "pipeline": [1, 2], "micro_batch": [2], "sharding": ["none"],
                        "sequence": "no", "recompute": ["none"], "schedule": ["1f1b"]}}))
        best = json.loads(self.done("plan", path, "--json", "--out", self.folder / "plans", cwd=self.root))["best"][0]
        step = best["intervals"]["step_s"]
        self.assertLess(step["low"], best["step_s"])
        self.assertLess(best["step_s"], step["high"])
        with open(self.folder / "plans/plans.csv", encoding="utf-8") as file:
            row, second = list(csv.DictReader(file))[:2]
        self.assertAlmostEqual(float(row["step_ms_at_most"]), 1e3 * step["high"], places=4)
        self.assertEqual((row["ratio_to_best"], row["ratio_to_best_at_least"]), ("1.000000", ""))
        ratio = float(second["ratio_to_best"])
        self.assertLess(float(second["ratio_to_best_at_least"]), ratio)
        # What is wrong about the machine is wrong in both plans: the 2 % are left, more for there being few machines.
        self.assertLess(float(second["ratio_to_best_at_most"]) / ratio, 1.03)
        text = self.done("plan", path, cwd=self.root)
        self.assertRegex(text, rf"(?m)^gains: plan 2 takes {ratio:.3f} times the best's time, .* (no|1) other plan may")
        self.assertRegex(text, r"intervals: 90 % of \d+ measured steps on 12 kinds of machine, between 0\.\d+ and 1\.\d+ times")


class WithoutResiduals(Folder):
    def test_a_note_says_why_there_are_no_intervals(self):
        root = root_without_residuals(self.folder, SOURCE)
        result = json.loads(self.done("run", self.experiment(scenarios=[RING]), "--json", cwd=root))
        self.assertIn("no intervals: validation/data/residuals.csv was not found", result["workload"]["notes"])
        self.assertNotIn("intervals", result["scenarios"][0])


if __name__ == "__main__":
    unittest.main()
