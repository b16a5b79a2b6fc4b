# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import unittest
from unittest import mock

from common import EXAMPLE, collective

import switchfold
from switchfold.result import _short
from switchfold.tables import has_pandas


class Tables(unittest.TestCase):
    def test_without_pandas_they_are_lists(self):
        with mock.patch("switchfold.tables.has_pandas", return_value=False):
            result = switchfold.run(EXAMPLE, {"/causes": False})
            self.assertIsInstance(result.scenarios, list)
            kernel = result.kernels[0]
        self.assertIsInstance(kernel["duration_us"], float)
        self.assertIsInstance(kernel["rank"], int)
        self.assertIsInstance(kernel["name"], str)

    def test_figures_of_other_kinds_of_runs_are_left_out(self):
        with mock.patch("switchfold.tables.has_pandas", return_value=False):
            scenarios = switchfold.run(collective()).scenarios
        for name in scenarios[0]:
            self.assertTrue(any(row[name] is not None for row in scenarios), name)
        self.assertNotIn("final_loss", scenarios[0])

    def test_without_pandas_columns_index_alike(self):
        with mock.patch("switchfold.tables.has_pandas", return_value=False):
            scenarios = switchfold.run(EXAMPLE, {"/causes": False}).scenarios
        names = scenarios["name"]
        self.assertEqual(names, [row["name"] for row in scenarios])
        self.assertEqual(scenarios[["name", "iteration_us"]][0], {"name": names[0], "iteration_us": scenarios[0]["iteration_us"]})
        with self.assertRaisesRegex(KeyError, "iteration: no such column; did you mean iteration_us"):
            scenarios["iteration"]

    @unittest.skipUnless(has_pandas(), "python3-pandas is not installed: tables are lists of dicts here")
    def test_with_pandas_they_are_the_same_values(self):
        result = switchfold.run(EXAMPLE, {"/causes": False})
        with mock.patch("switchfold.tables.has_pandas", return_value=False):
            again = switchfold.load(result.folder)
            lists = {"scenarios": again.scenarios, "kernels": again.kernels, "collectives": again.collectives}
        for name, rows in lists.items():
            frame = getattr(result, name)
            self.assertEqual(list(frame.columns), list(rows[0]))
            for column in frame.columns:
                values = [None if value != value else value for value in frame[column].tolist()]
                self.assertEqual(values, [row[column] for row in rows], column)


class Bars(unittest.TestCase):
    def test_a_function_is_told_of_progress(self):
        told = []
        # The run is long enough for a line: the program writes the first at once, then ten a second.
        switchfold.run(EXAMPLE, progress=told.append)
        self.assertTrue(told)
        self.assertTrue(all(one.share is not None and 0 <= one.share <= 1 for one in told), told)
        self.assertIn("events", told[-1].text)

    def test_progress_of_a_sweep_counts_experiments(self):
        told = []
        switchfold.sweep({"name": "s", "experiment": collective(), "axes": [
            {"name": "size", "pointer": "/workload/size", "range": "1 KiB..64 MiB x2"}]}, progress=told.append)
        self.assertIn("of 17 experiments", told[-1].text)

    def test_errors_come_through_a_terminal_as_they_are(self):
        broken = collective(workload={"type": "collective", "size": 3, "ranks": -1})
        messages = []
        for progress in (False, lambda _: None):
            with self.assertRaises(switchfold.InputError) as caught:
                switchfold.run(broken, progress=progress)
            messages.append(str(caught.exception))
        self.assertEqual(*messages)

    def test_without_terminals_nothing_is_shown(self):
        told = []
        with mock.patch("os.openpty", side_effect=OSError(19, "No such device")):
            result = switchfold.run(EXAMPLE, progress=told.append)
        self.assertTrue(len(result.scenarios))
        self.assertEqual(told, [])

    def test_a_bar_is_gone_when_the_call_ends(self):
        seen = io.StringIO()
        with contextlib.redirect_stderr(seen):
            switchfold.run(EXAMPLE, progress=True)
        self.assertIn("#", seen.getvalue())
        self.assertTrue(seen.getvalue().endswith("\r\x1b[K"))

    def test_a_bar_says_how_far(self):
        bar = switchfold.Progress.parse("  3 of 6 experiments  1.0 a second").bar()
        self.assertEqual(bar, "[############------------] 3 of 6 experiments  1.0 a second")
        self.assertIsNone(switchfold.Progress.parse("7 plans simulated  1 s").share)


class FirstTable(unittest.TestCase):
    """What a notebook shows of a run: its own figures, not those of a step that all scenarios share."""

    STEP = {"name": "a", "iteration_us": 10.0, "backward_us": 4.0, "exposed_communication_us": 1.0, "samples_per_s": 80.0,
            "speedup": None, "backward_slowdown": None}

    def shown(self, **figures):
        return list(_short([{**self.STEP, **figures}]))[0]

    def test_a_step(self):
        self.assertEqual(self.shown()["iteration, us"], "10.0")

    def test_members_that_come_and_go(self):
        row = self.shown(run_us=6e7, run_training=0.9296, run_paused_us=2e6, run_checkpoints_us=0, run_lost_us=0, run_members=5,
                         run_gpu_seconds_lost=3.25, samples_per_s=71.5)
        self.assertEqual(row, {"scenario": "a", "time, us": "60000000", "samples/s": "71.5", "training": "92.96%",
                               "paused, us": "2000000", "checkpoints, us": "0", "lost, us": "0", "members": "5.0",
                               "GPU-s lost": "3.2"})

    def test_a_small_network(self):
        row = self.shown(diverged_seeds=0, final_loss=0.19081, steps_to_target=243.2, time_to_target_us=4.2e6)
        self.assertEqual((row["final loss"], row["steps to target"], row["iteration, us"]), ("0.1908", "243.2", "10.0"))


if __name__ == "__main__":
    unittest.main()
