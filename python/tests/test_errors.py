# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

from common import collective

import switchfold
from switchfold import Problem
from switchfold.errors import raise_for


class Lines(unittest.TestCase):
    def test_file_pointer_what_and_expectation(self):
        self.assertEqual(
            Problem.parse("a/b.json: /scenarios/0/all_reduce: is in_switch, which x cannot do: no unit; expected ring, tree or auto"),
            Problem("a/b.json", "/scenarios/0/all_reduce", "is in_switch, which x cannot do: no unit", "ring, tree or auto"))

    def test_an_expectation_in_other_words(self):
        self.assertEqual(Problem.parse("a.json: /links/0/x: unknown key; known keys are: bandwidth, latency"),
                         Problem("a.json", "/links/0/x", "unknown key", "known keys are: bandwidth, latency"))

    def test_the_file_as_a_whole_and_no_expectation(self):
        self.assertEqual(Problem.parse("x y.json: /: cannot open: No such file or directory"),
                         Problem("x y.json", "/", "cannot open: No such file or directory", ""))

    def test_a_place_in_a_trace(self):
        self.assertEqual(Problem.parse("x.json: byte 2: the JSON ends too early; expected a whole trace"),
                         Problem("x.json", "byte 2", "the JSON ends too early", "a whole trace"))

    def test_any_other_line_is_kept(self):
        self.assertEqual(Problem.parse("switch0 broke"), Problem("", "/", "switch0 broke", ""))

    def test_text_is_the_line_again(self):
        line = "a.json: /links/0: is 3; expected a string"
        self.assertEqual(str(Problem.parse(line)), line)

    def test_a_signal_and_a_bug(self):
        with self.assertRaisesRegex(switchfold.InternalError, "signal 9"):
            raise_for(-9, "")
        with self.assertRaisesRegex(switchfold.InternalError, "this is a bug"):
            raise_for(70, "x.cpp:3: this is a bug\n")


class OfTheProgram(unittest.TestCase):
    def refused(self, *arguments, **options):
        with self.assertRaises(switchfold.InputError) as caught:
            switchfold.run(*arguments, **options)
        return caught.exception.problems

    def test_several_problems_come_at_once_with_their_pointers(self):
        problems = self.refused(collective(workload={"type": "collective", "size": 3, "ranks": -1}))
        self.assertEqual({(p.file, p.pointer) for p in problems}, {("-", "/workload/size"), ("-", "/workload/ranks")})
        self.assertTrue(all(p.expected for p in problems), problems)

    def test_a_file_is_named_as_the_caller_named_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.json"
            path.write_text('{"nam": "x"}')
            problems = self.refused(path)
            self.assertEqual({p.file for p in problems}, {str(path)})
            self.assertIn("/nam", [p.pointer for p in problems])

    def test_a_file_that_is_not_there(self):
        self.assertEqual(self.refused("nowhere.json")[0].file, "nowhere.json")

    def test_a_wrong_setting_says_which(self):
        self.assertEqual(self.refused(collective(), {"/workload/siz": "1 MiB"})[0].pointer, "/workload/siz")
        with self.assertRaisesRegex(ValueError, "not a JSON pointer"):
            switchfold.run(collective(), {"workload.size": "1 MiB"})

    def test_a_simulation_that_is_given_up(self):
        with self.assertRaisesRegex(switchfold.SimulationError, "simulated_time"):
            switchfold.run(collective(limits={"simulated_time": "1 us"}))


if __name__ == "__main__":
    unittest.main()
