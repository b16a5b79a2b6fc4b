#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/simulated_tables finds a wrong cell, corrects it on request, and fails closed.

usage: simulated_tables_test.py
"""
import unittest

import held_page_case

# Takes 10 us, or what is set; the second scenario becomes a ring.
PROGRAM = """#!/usr/bin/env python3
import json, sys
sets = dict(s.split("=", 1) for s in sys.argv[1:] if s.startswith("/"))
if sets.get("/size") == "bad":
    sys.exit("bad size")
time = float(sets.get("/size", 10))
units = [{"evictions": 2}, {"evictions": 3}]
def scenario(name, us, algorithm, fallback):
    learning = {"seeds": [1, 2], "seeds_that_reached_the_target": 1 + (name == "pull"),
                "seconds_to_target": {"mean": 2.5} if name == "pull" else None,
                "comparison": {"seconds_ratio": {"mean": 0.75, "half_width": 0.125}} if name == "pull" else None}
    return {"name": name, "iteration_us": us, "reduction_units": units, "samples_per_s": 1e6 / us, "learning": learning,
            "exposed_copies_us": None,
            "collectives": [{"algorithm": algorithm, "fallback": fallback}]}
print(json.dumps({"scenarios": [scenario("ring", 2 * time, "ring", None),
                                scenario("pull", time, "ring", sets.get("/fault"))]}))
"""
BY_SIZE = '{"run": "x.json", "row": "/size", "columns": ["ring", "pull", "ring / pull", "pull: evictions"]}'
BY_FAULT = '{"run": "x.json", "rows": {"none": [], "one": ["/fault=time"]}, "columns": ["pull"]}'
BY_SCENARIO = ('{"run": "x.json", "set": ["/size=4000"], "scenarios": {"a": "ring", "b": "pull"}, '
               '"columns": ["iteration ms", null, "exposed copies ms", "time over compared"]}')
BY_PACE = '{"run": "x.json", "row": "/size", "columns": ["samples/s of pull", "pull over ring"]}'


class SimulatedTables(held_page_case.HeldPageCase):
    SCRIPT = "simulated_tables"
    PROGRAM = PROGRAM

    def check(self, what, *rows, write=False, end="<!-- simulated: end -->"):
        return self.hold([f"<!-- simulated {what} -->", "| a | b |", "|---|---|", *rows, end], write)

    def test_right_cells_pass(self):
        self.assertEqual(self.check(BY_SIZE, "| 30 | 60.0 | 30.0 | 2 | 5 |", "| 4000 | 8000 | 4000 | 2 | 5 |")[0], 0)
        self.assertEqual(self.check(BY_FAULT, "| one | 10.0, as a ring |", "| none | 10.0 |")[0], 0)

    def test_a_wrong_cell_is_shown_and_mended(self):
        code, said, page = self.check(BY_SIZE, "| 30 | 60.1 | 30.0 | 2 | 5 |")
        self.assertEqual(code, 1)
        self.assertIn("-| 30 | 60.1 | 30.0 | 2 | 5 |\n+| 30 | 60.0 | 30.0 | 2 | 5 |", said)
        self.assertIn("60.1", page)
        code, said, page = self.check(BY_SIZE, "| 30 | |", write=True)
        self.assertEqual((code, "| 30 | 60.0 | 30.0 | 2 | 5 |" in page), (0, True))
        self.assertTrue(page.startswith("Words.\n") and page.endswith("\nMore.\n"))

    def test_a_row_is_a_scenario_of_one_run(self):
        self.assertEqual(self.check(BY_SCENARIO, "| a | 8.0 ms | a word | | 1 |", "| b | **4.0 ms** | | | 0.75 +- 0.12 |")[0], 0)
        code, _, page = self.check(BY_SCENARIO, "| b | **4.1 ms** | kept | | |", write=True)
        self.assertEqual((code, "| b | **4.0 ms** | kept | | 0.75 +- 0.12 |" in page), (0, True))
        self.assertEqual(self.check(BY_PACE, "| 20 | 50,000 | **2.00** |")[0], 0)
        self.assertIn("no scenario c", self.check(BY_SCENARIO.replace('"pull"}', '"c"}'), "| b | | | | |")[1])
        self.assertIn('no figure "time"', self.check(BY_SCENARIO.replace("iteration ms", "time"), "| b | | | | |")[1])

    def test_a_slow_table_is_computed_on_request(self):
        slow = BY_SIZE.replace('{"run"', '{"slow": true, "run"')
        self.assertEqual(self.check(slow, "| 30 | wrong | 30.0 | 2 | 5 |")[0], 0)
        self.SLOW = True
        self.assertEqual(self.check(slow, "| 30 | wrong | 30.0 | 2 | 5 |")[0], 1)

    def test_what_cannot_be_computed_is_an_error_even_when_writing(self):
        for write in (False, True):
            for what, row, words in ((BY_SIZE, "| bad | |", "bad size"),
                                     (BY_FAULT, "| two | |", 'no row "two"'),
                                     (BY_FAULT.replace('"pull"', '"push"'), "| one | |", "no scenario push")):
                code, said, page = self.check(what, row, write=write)
                self.assertEqual((code, row in page), (1, True))
                self.assertIn(words, said)

    def test_a_table_that_is_not_closed_is_an_error(self):
        code, said, _ = self.check(BY_SIZE, "| 30 | 60.0 | 30.0 | 2 | 5 |", end="")
        self.assertEqual(code, 1)
        self.assertIn("no such table", said)


if __name__ == "__main__":
    unittest.main()
