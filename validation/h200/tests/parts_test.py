# SPDX-License-Identifier: Apache-2.0
"""Parts end in time and continue where they ended."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from parts import Deadline, Store, run_items, write_json  # noqa: E402


class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "items"
        self.clock = Clock()
        self.measured = []

    def run_all(self, budget, seconds_each=10, estimate=5):
        def measure(item):
            self.clock.time += seconds_each
            self.measured.append(item["key"])
            return {"value": item["key"] * 2}

        items = [{"key": key} for key in "abcde"]
        deadline = Deadline(budget, self.clock)
        return run_items(
            Store(self.path), items, deadline, measure, estimate, lambda line: None
        )

    def test_everything_when_there_is_time(self):
        self.assertEqual(self.run_all(1000), 0)
        self.assertEqual(Store(self.path).items["e"], {"value": "ee"})

    def test_a_cut_run_goes_on(self):
        self.assertEqual(self.run_all(25), 3)
        self.assertEqual(self.measured, ["a", "b"])
        self.assertEqual(self.run_all(1000), 0)
        self.assertEqual(self.measured, list("abcde"))
        self.assertEqual(self.run_all(0), 0)

    def test_no_item_starts_that_the_longest_so_far_says_will_not_end(self):
        self.assertEqual(self.run_all(29, seconds_each=10), 3)
        self.assertEqual(self.clock.time, 20)

    def test_one_that_fails_does_not_stop_the_others(self):
        def measure(item):
            if item["key"] == "a":
                raise RuntimeError("no counters for this user")
            return 1

        said = []
        items = [{"key": key} for key in "abc"]
        store = Store(self.path)
        left = run_items(store, items, Deadline(1000, self.clock), measure, 5, said.append)
        self.assertEqual(left, 1)
        self.assertEqual(sorted(store.items), ["b", "c"])
        self.assertIn("a: no counters for this user", said)

    def test_a_cut_line_is_measured_again(self):
        self.run_all(1000)
        text = self.path.read_text(encoding="utf-8")
        self.path.write_text(text[:-10], encoding="utf-8")
        self.assertEqual(sorted(Store(self.path).items), list("abcd"))

    def test_json_is_written_whole(self):
        write_json(self.path, {"a": 1})
        self.assertEqual(json.loads(self.path.read_text(encoding="utf-8")), {"a": 1})
        self.assertEqual([p.name for p in self.path.parent.iterdir()], ["items"])


if __name__ == "__main__":
    unittest.main()
