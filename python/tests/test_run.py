# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import unittest

from common import EXAMPLE, HGX_H100, collective, rows

import switchfold


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.example = switchfold.run(EXAMPLE, {"/causes": False}, timeline=True)

    def test_result_types_name_the_keys(self):
        from switchfold import result_types as types

        def fits(value, of, beside=()):
            self.assertEqual(set(of.__annotations__) - set(value) - set(self.may_lack(of)), set(), of.__name__)
            self.assertEqual(set(value) - set(of.__annotations__) - set(beside), set(), of.__name__)

        for raw in (self.example.raw, switchfold.run(collective()).raw):
            kinds = [one["kind"] for one in raw["statistics"]]
            fits(raw, types.Experiment)
            fits(raw["workload"], types.Workload)
            for scenario in raw["scenarios"]:
                fits(scenario, types.Scenario, kinds)
                for one in scenario["collectives"]:
                    fits(one, types.Collective)

    @staticmethod
    def may_lack(of):
        """Python 3.9 and later say which keys a TypedDict may lack, here those of the class with a body."""
        return of.__optional_keys__

    def test_scenarios_are_rows(self):
        scenarios = {row["name"]: row for row in rows(self.example.scenarios)}
        self.assertEqual(list(scenarios), ["serial", "ring", "in_switch"])
        self.assertEqual(scenarios["ring"]["iteration_us"], self.example["ring"]["iteration_us"])
        self.assertGreater(scenarios["ring"]["backward_slowdown"], 0.01)

    def test_causes_are_columns(self):
        result = switchfold.run(EXAMPLE)
        for row in rows(result.scenarios):
            causes = [row[f"cause_{cause}"] for cause in ("sm", "l2", "hbm", "latency", "completion", "clock", "other")]
            self.assertAlmostEqual(sum(causes), row["backward_slowdown"], places=5)  # each cause is rounded

    def test_causes_of_every_phase_are_columns(self):
        sharded = switchfold.run({
            "name": "sharded", "system": HGX_H100,
            "workload": {"type": "training", "strategy": "fully_sharded", "batch": 4, "ranks": 2,
                         "transformer": {"blocks": 2, "hidden": 2048, "sequence": 256, "vocabulary": 1000}},
            "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]})
        row = rows(sharded.scenarios)[0]
        self.assertGreater(row["forward_slowdown"], 0)
        for phase in ("forward", "backward"):
            prefix = "cause_" if phase == "backward" else f"{phase}_cause_"
            causes = [row[f"{prefix}{cause}"] for cause in ("sm", "l2", "hbm", "latency", "completion", "clock", "other")]
            self.assertAlmostEqual(sum(causes), row[f"{phase}_slowdown"], places=5)  # each cause is rounded

    def test_collectives_links_and_components_name_their_scenario(self):
        for table in (self.example.collectives, self.example.links, self.example.components("gpus")):
            self.assertEqual({row["scenario"] for row in rows(table)}, {"serial", "ring", "in_switch"})
        self.assertIn("bus_bandwidth_GBps", rows(self.example.collectives)[0])
        units = self.example.units("links")
        self.assertTrue(units and set(units) <= set(rows(self.example.links)[0]))
        with self.assertRaisesRegex(KeyError, "the kinds are"):
            self.example.components("wires")

    def test_intervals_are_columns_and_a_table(self):
        interval = {"low": 90.5, "high": 120.0, "measured": True, "like": "3 measured collectives on 2 kinds of machine"}
        raw = dict(self.example.raw)
        raw["scenarios"] = [dict(scenario) for scenario in raw["scenarios"]]
        raw["scenarios"][1]["intervals"] = {"iteration_us": interval, "speedup": {**interval, "low": None, "high": None, "measured": False}}
        raw["scenarios"][1]["collectives"] = [{**raw["scenarios"][1]["collectives"][0], "intervals": {"time_us": interval}}]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "result.json").write_text(json.dumps(raw))
            result = switchfold.load(folder)
            ring = rows(result.scenarios)[1]
            self.assertEqual((ring["iteration_us_at_least"], ring["iteration_us_at_most"]), (90.5, 120.0))
            self.assertNotIn("intervals", ring)
            told = {row["figure"]: row for row in rows(result.intervals) if row["scenario"] == "ring"}
            self.assertEqual(told["iteration_us"]["at_most"], 120.0)
            self.assertEqual(told["iteration_us"]["value"], ring["iteration_us"])
            self.assertIn("3 measured collectives", told["iteration_us"]["like"])
            self.assertFalse(told["speedup"]["measured"])
            one = [row for row in rows(result.collectives) if row["scenario"] == "ring"][0]
            self.assertEqual(one["time_us_at_least"], 90.5)

    def test_energy_has_its_ends(self):
        energy = {row["scenario"]: row for row in rows(self.example.energy())}
        self.assertEqual(list(energy), ["serial", "ring", "in_switch"])
        for row in energy.values():
            for name in ("gpu_watts", "step_joules", "kernels_joules", "memory_joules"):
                self.assertLess(row[f"{name}_low"], row[name])
                self.assertLess(row[name], row[f"{name}_high"])
            self.assertAlmostEqual(
                sum(row[f"{part}_joules"] for part in ("idle", "kernels", "communication", "memory", "gpu_links", "pcie",
                                                       "network")), row["step_joules"], places=9)
        with self.assertRaises(switchfold.InputError):
            self.example.energy(power=EXAMPLE)

    def test_kernels_and_timeline(self):
        kernels = rows(self.example.kernels)
        self.assertGreater(len(kernels), 100)
        self.assertIsInstance(kernels[0]["duration_us"], float)
        self.assertGreater(len(self.example.timeline["traceEvents"]), 100)

    def test_a_run_without_timeline_says_so(self):
        with self.assertRaisesRegex(switchfold.InputError, "timeline=True"):
            switchfold.run(collective()).timeline

    def test_memory_and_passes_of_a_plan(self):
        result = switchfold.run(switchfold.shipped("experiments/recompute.json"), {"/causes": False})
        self.assertIn("activations", rows(result.memory)[0])
        self.assertIn("pass", rows(result.passes)[0])
        self.assertGreater(rows(result.scenarios)[0]["peak_memory_bytes"], 1 << 30)

    def test_tables_that_are_not_there_are_empty(self):
        self.assertEqual(len(switchfold.run(collective()).memory), 0)

    def test_a_scenario_that_is_not_there(self):
        with self.assertRaisesRegex(KeyError, "serial, ring, in_switch"):
            self.example["rin"]

    def test_a_notebook_shows_a_table(self):
        self.assertIn("<td>in_switch</td>", self.example._repr_html_())


class Sources(unittest.TestCase):
    def test_a_dict_is_what_its_file_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "experiment.json"
            path.write_text(json.dumps(collective(), default=str))
            from_file, from_dict = switchfold.run(path).raw, switchfold.run(collective()).raw
        for raw in (from_file, from_dict):
            del raw["host"]
        self.assertEqual(from_file, from_dict)

    def test_paths_of_a_dict_are_relative_to_base(self):
        named = collective(system=HGX_H100.name)
        self.assertEqual(switchfold.run(named, base=HGX_H100.parent).name, "small")
        with self.assertRaises(switchfold.InputError):
            switchfold.run(named)
        with self.assertRaises(TypeError):
            switchfold.run(EXAMPLE, base=".")

    def test_settings_take_text_numbers_and_lists(self):
        result = switchfold.run(collective(), {
            "/workload/size": "2 MiB", "/workload/ranks": 4, "/scenarios": [{"name": "only"}], "/name": "3"})
        self.assertEqual(result.name, "3")
        self.assertEqual([(row["size_bytes"], row["ranks"]) for row in rows(result.collectives)], [(2 << 20, 4)])

    def test_a_relative_out_is_of_the_caller(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                result = switchfold.run(collective(system=HGX_H100.name), out="here", base=HGX_H100.parent)
                self.assertTrue(pathlib.Path("here/result.json").is_file())
                self.assertEqual(switchfold.load("here").raw, result.raw)
            finally:
                os.chdir(before)

    def test_folders_of_its_own_go_with_the_result(self):
        result = switchfold.run(collective())
        folder = result.folder
        self.assertTrue(folder.is_dir())
        del result
        self.assertFalse(folder.exists())

    def test_no_finished_run(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(switchfold.InputError, "a finished run"):
                switchfold.load(folder)

    def test_a_report(self):
        with tempfile.TemporaryDirectory() as folder:
            try:
                page = switchfold.run(collective(), out=folder).report()
            except switchfold.SwitchfoldError as error:
                self.skipTest(f"this program writes no reports: {error}")
            self.assertIn("<html", page.read_text()[:200])


class Loops(unittest.TestCase):
    def test_a_point_of_a_loop_costs_little_beside_the_program(self):
        """Compares processor time, which other processes do not disturb; docs/notebook/install.md has elapsed times."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "experiment.json"
            path.write_text(json.dumps(collective(), default=str))
            program = str(switchfold.find_program())

            def alone():
                subprocess.run([program, "run", str(path), "--out", f"{folder}/out", "--set", "/workload/size=64 KiB"],
                               stdout=subprocess.DEVNULL, check=True)

            def looped():
                switchfold.run(collective(), {"/workload/size": "64 KiB"}, progress=False)

            def seconds(what, of):
                before = [resource.getrusage(who) for who in of]
                what()
                after = [resource.getrusage(who) for who in of]
                return sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after))

            both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
            pairs = [(seconds(looped, both), seconds(alone, both[1:])) for _ in range(40)]
        taken = [statistics.mean(times) for times in zip(*pairs)]
        self.assertLess(taken[0] - taken[1], 0.005)


if __name__ == "__main__":
    unittest.main()
