#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_one_definition.py finds types that are there twice, and nothing else."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import check_one_definition


class OneDefinition(unittest.TestCase):
    def found(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, "sim", name + ".h")
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            return check_one_definition.twice_in(pathlib.Path(folder))

    def test_the_same_type_of_a_namespace(self):
        text = "namespace a::b {\n\nstruct Row : Base {\n};\n\n}  // namespace a::b\n"
        self.assertEqual(self.found(one=text, two=text), {"a::b::Row": ["sim/one.h", "sim/two.h"]})

    def test_types_of_two_namespaces_are_two(self):
        text = "namespace {} {{\n\nenum class Kind {{ kOne }};\n\n}}  // namespace {}\n"
        self.assertEqual(self.found(one=text.format("a", "a"), two=text.format("b", "b")), {})

    def test_anonymous_and_inner_types_and_declarations_may_be_there_twice(self):
        text = ("namespace a {\nstruct Row;\nnamespace {\nclass Row final {\n};\n}  // namespace\n"
                "template <class T>\nvoid f() {\n    struct Row {\n    };\n}\n}  // namespace a\n")
        self.assertEqual(self.found(one=text, two=text), {})


if __name__ == "__main__":
    unittest.main()
