#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The laws that probes are held against find what is wrong and nothing else; random machines are the same each time."""
import json
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "physics"))
import drawn_machines  # noqa: E402
import probe  # noqa: E402
from bench import command, first_table, turned  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def wrong(law, figures, values=None):
    return list(law(values or list(range(1, len(figures) + 1)), figures))


class Laws(unittest.TestCase):
    def test_what_may_not_rise(self):
        self.assertFalse(wrong(probe.never_rises, [4, 2, 2, 2.01]))
        self.assertEqual(wrong(probe.never_rises, [4.0, 2.0, 2.5]), ["2.5 at 3 after 2 at 2: 25.0 % up"])
        # Steps of less than the tolerance do not add up to more.
        self.assertTrue(wrong(probe.never_rises, [1, 1.008, 1.016]))

    def test_what_may_not_fall(self):
        self.assertFalse(wrong(probe.never_falls, [1, 2, 1.99, 4]))
        self.assertEqual(wrong(probe.never_falls, [1.0, 4.0, 3.0]), ["3 at 3 after 4 at 2: 25.0 % down"])

    def test_what_must_be_the_same(self):
        self.assertFalse(wrong(probe.same, [100, 100.9]))
        self.assertTrue(wrong(probe.same, [100, 99.5, 100.9]))

    def test_what_must_move(self):
        self.assertFalse(wrong(probe.moves(2), [1, 2]))
        self.assertFalse(wrong(probe.moves(2), [2, 1]))
        self.assertTrue(wrong(probe.moves(2), [2, 3]))

    def test_bounds_and_closed_forms(self):
        self.assertFalse(wrong(probe.at_most(lambda n: n), [1, 2.02]))
        self.assertTrue(wrong(probe.at_most(lambda n: n), [1, 2.03]))
        self.assertTrue(wrong(probe.at_most(0, 0), [1]))
        self.assertFalse(wrong(probe.equals(lambda n: 3 * n), [3, 6.05]))
        self.assertTrue(wrong(probe.equals(lambda n: 3 * n), [3, 5]))
        self.assertTrue(wrong(probe.holds, ["no"]))

    def test_twice_the_work(self):
        self.assertFalse(wrong(probe.grows_no_faster, [1, 1.5, 3], [1, 2, 4]))
        self.assertTrue(wrong(probe.grows_no_faster, [1, 2.1], [1, 2]))


class Experiments(unittest.TestCase):
    def test_turned_values_become_arguments(self):
        experiment = turned(turned({"name": "a"}, "/b", "1 MiB"), "/c", [1, 2])
        self.assertEqual(command(json.dumps(experiment)), (["--set", "/b=1 MiB", "--set", "/c=[1, 2]"], '{"name": "a"}'))

    def test_the_first_table_is_read(self):
        rows = first_table("head\n\nscenario  exposed comm  iteration\nring           1.5 us   4.00 ms\n\nother  table\na  b\n")
        self.assertEqual(rows, [{"scenario": "ring", "exposed comm": "1.5 us", "iteration": "4.00 ms"}])
        # Where many steps are run, their figures come first.
        rows = first_table("run that is described\n\nrun    time  samples/s\njoin  2.0 s        7.5\n\nscenario  forward\njoin  1 us\n")
        self.assertEqual(rows, [{"run": "join", "time": "2.0 s", "samples/s": "7.5"}])

    def test_a_seed_draws_one_machine(self):
        one, other, third = (drawn_machines.Draw(SOURCE, random.Random(seed)).machine() for seed in (1, 1, 2))
        self.assertEqual(one, other)
        self.assertNotEqual(one, third)

    def test_scaling_reaches_all_links_and_nothing_else(self):
        topology = drawn_machines.Draw(SOURCE, random.Random(3)).cluster()
        twice = drawn_machines.scaled(topology, 2, ("lane_bandwidth",))
        rates = [[float(n) for n in re.findall(r'"lane_bandwidth": "([0-9.]+) MB/s"', json.dumps(t))] for t in (topology, twice)]
        self.assertGreaterEqual(len(rates[0]), 4)
        self.assertEqual([2 * rate for rate in rates[0]], rates[1])
        self.assertEqual(drawn_machines.scaled(twice, 0.5, ("lane_bandwidth",)), topology)


if __name__ == "__main__":
    unittest.main()
