#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's first picture is what the example's run gives.

usage: waterfall_test.py SWITCHFOLD
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/pictures"))
import draw_waterfall  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()


class Waterfall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.run_folder = pathlib.Path(folder.name) / "example"
        subprocess.run([PROGRAM, "run", ROOT / "configs/experiments/example.json", "--out", cls.run_folder], check=True,
                       capture_output=True)
        cls.scenarios = json.loads((cls.run_folder / "result.json").read_text(encoding="utf-8"))["scenarios"]

    def test_the_shipped_picture_is_of_this_program(self):
        if not (ROOT / "validation/data/residuals.csv").is_file():
            self.skipTest("without residuals the picture has no whiskers")
        self.assertEqual((ROOT / "docs/pictures/waterfall.svg").read_text(encoding="utf-8"), draw_waterfall.draw(self.run_folder),
                         "draw it anew: scripts/make_pictures waterfall")

    def test_steps_lead_from_scenario_to_scenario(self):
        at, reached = 0.0, []
        for what, us, total in draw_waterfall.steps(self.scenarios):
            if total is not None:
                self.assertTrue(not reached or abs(at - total) < 1e-3, (what, at, total))
                reached.append(what)
            at = total if us is None else at + us
        self.assertEqual(reached, [s["name"] for s in self.scenarios])

    def test_causes_are_those_of_the_phases(self):
        serial, ring = self.scenarios[:2]
        parts = draw_waterfall.parts(serial, ring)
        longer = sum((ring[f"{phase}_us"] or 0) - (serial[f"{phase}_us"] or 0) for phase in draw_waterfall.PHASES)
        causes = sum(parts[title] for title in draw_waterfall.CAUSES.values())
        self.assertAlmostEqual(causes, longer, delta=1e-5 * serial["iteration_us"])
        self.assertGreater(causes, 100)

    def test_the_readme_shows_it_first(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual(readme.index("(docs/pictures/"), readme.index("(docs/pictures/waterfall.svg)"))


if __name__ == "__main__":
    unittest.main()
