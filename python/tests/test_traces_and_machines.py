# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import tempfile
import unittest

from common import HGX_H100, TRACE, rows

import switchfold


class Traces(unittest.TestCase):
    def test_a_trace_that_can_be_replayed(self):
        answer = switchfold.check(TRACE)
        self.assertTrue(answer)
        self.assertIn("replayable", answer.verdict)
        self.assertEqual(rows(answer.files)[0]["world_size"], 8)

    def test_a_file_that_is_no_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.json"
            path.write_text("{")
            with self.assertRaises(switchfold.InputError) as caught:
                switchfold.check(path)
            self.assertEqual((caught.exception.problems[0].file, caught.exception.problems[0].pointer), (str(path), "byte 1"))

    def test_traces_that_do_not_belong_together(self):
        """The same rank of an 8-rank run, given twice."""
        try:
            answer = switchfold.check(TRACE, TRACE)
        except switchfold.InputError as error:
            self.assertTrue(error.problems)
            return
        self.assertFalse(answer)
        self.assertTrue(answer.problems)

    def test_inspect(self):
        answer = switchfold.inspect(TRACE)
        self.assertGreater(answer.iteration_us, 1000)
        self.assertIn("backward", [row["name"] for row in rows(answer.phases)])
        self.assertGreater(rows(answer.collectives)[0]["size_bytes"], 1 << 20)
        self.assertGreater(rows(answer.largest_kernels)[0]["time_us"], 1)


class Machines(unittest.TestCase):
    def test_describe_by_path_and_by_dict(self):
        text = switchfold.describe(HGX_H100)
        self.assertIn("H100", text)
        self.assertEqual(switchfold.describe(json.loads(HGX_H100.read_text()), base=HGX_H100.parent), text)
        self.assertIn("graph", switchfold.describe(HGX_H100, dot=True))

    def test_schema_version_and_what_ships(self):
        self.assertEqual(switchfold.schema("system")["title"], "switchfold system")
        self.assertEqual(switchfold.program_version(), switchfold.__version__)
        self.assertTrue(switchfold.shipped("README.md").is_file())

    def test_validate(self):
        answer = switchfold.validate("low_sm")
        self.assertIn("simulated", rows(answer.cases)[0])
        self.assertIsInstance(answer.passed, bool)


if __name__ == "__main__":
    unittest.main()
