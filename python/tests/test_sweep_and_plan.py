# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest

from common import collective, rows

import switchfold

SIZES = {"name": "sizes", "experiment": collective(scenarios=[{"name": "x", "all_reduce": {"algorithm": "ring"}}]), "axes": [
    {"name": "algorithm", "pointer": "/scenarios/0/all_reduce/algorithm", "values": ["ring", "in_switch"]},
    {"name": "size", "pointer": "/workload/size", "range": "64 KiB..4 MiB x8"},
]}


class Sweeps(unittest.TestCase):
    def test_points_axes_and_numbers(self):
        result = switchfold.sweep(SIZES)
        points = rows(result.points)
        self.assertEqual(len(points), 6)
        self.assertEqual({row["size_number"] for row in points}, {65536, 524288, 4194304})
        self.assertTrue(all(row["status"] == "done" and row["time_us"] > 0 for row in points))
        self.assertEqual([(axis["name"], axis["unit"]) for axis in result.axes], [("algorithm", None), ("size", "B")])
        self.assertEqual(result.axes[0]["labels"], ["ring", "in_switch"])
        self.assertEqual(len(result.failures), 0)

    def test_a_sweep_in_a_folder_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            switchfold.sweep(SIZES, out=folder)
            again = switchfold.load_sweep(folder)
            self.assertEqual(rows(again.query("SELECT count(*) AS runs FROM runs"))[0]["runs"], 6)
        with self.assertRaises(switchfold.InputError):
            switchfold.load_sweep("nowhere")

    def test_points_that_fail_are_told(self):
        failing = {**SIZES, "axes": [{"name": "limit", "pointer": "/limits/simulated_time", "values": ["1 us", "1 s"]}]}
        with self.assertRaisesRegex(switchfold.SimulationError, "failed"):
            switchfold.sweep(failing)
        kept = switchfold.sweep(failing, allow_failures=True)
        self.assertEqual(len(kept.failures), 1)
        self.assertEqual(sorted(row["status"] for row in rows(kept.points)), ["done", "failed"])

    def test_an_axis_that_is_wrong(self):
        wrong = {**SIZES, "axes": [{"name": "x", "pointer": "/workload/siz", "values": [1]}]}
        with self.assertRaises(switchfold.InputError):
            switchfold.sweep(wrong)


class Plans(unittest.TestCase):
    def test_the_best_plan_and_what_it_takes(self):
        answer = switchfold.plan(switchfold.shipped("experiments/plan_gpt_hgx_h100.json"), budget=4)
        best = rows(answer.best)
        self.assertFalse(answer.proved)
        self.assertLessEqual(best[0]["bound_s"], best[0]["step_s"])
        self.assertGreaterEqual(len(answer.plans), 4)
        result = answer.run(progress=False)
        self.assertAlmostEqual(rows(result.scenarios)[0]["iteration_us"] * 1e-6, best[0]["step_s"], places=9)

    def test_memory(self):
        plans = switchfold.plan_memory(switchfold.shipped("experiments/vgg16_memory.json"), memory=["8 GiB"])
        self.assertEqual({row["memory_bytes"] for row in rows(plans.plans)}, {8 << 30})
        self.assertTrue(len(plans.updates) and len(plans.recompute))


if __name__ == "__main__":
    unittest.main()
