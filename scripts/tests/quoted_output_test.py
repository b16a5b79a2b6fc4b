#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/quoted_output finds a wrong digit, corrects it on request, and fails closed.

usage: quoted_output_test.py
"""
import unittest

import held_page_case

PROGRAM = """#!/bin/sh
echo title
echo "name  value"
echo "a      1.25"
echo note: $1
exit ${2:-0}
"""


class QuotedOutput(held_page_case.HeldPageCase):
    SCRIPT = "quoted_output"
    PROGRAM = PROGRAM

    def check(self, *lines, exit_code="", write=False):
        return self.hold([f"```console{exit_code}", *lines, "```"], write)

    def test_what_is_printed_is_right_whole_or_in_parts(self):
        whole = ["title", "name  value", "a      1.25", "note: x"]
        for quoted in (whole, ["...", "a      1.25", "..."], ["title", "..."], ["...", *whole[1:]]):
            with self.subTest(quoted):
                self.assertEqual(self.check("$ switchfold x", *quoted)[0], 0)

    def test_a_digit_that_is_off_is_shown_and_mended(self):
        wrong = ["$ switchfold x", "...", "name  value", "a      1.26", "..."]
        code, said, page = self.check(*wrong)
        self.assertEqual(code, 1)
        self.assertIn("-a      1.26\n+a      1.25", said)
        self.assertIn("1.26", page)
        code, said, page = self.check(*wrong, write=True)
        self.assertEqual((code, "1.25" in page, page.count("...")), (0, True, 2))
        self.assertTrue(page.startswith("Words.\n") and page.endswith("\nMore.\n"))

    def test_lines_that_are_missing_at_the_end_are_noticed(self):
        self.assertEqual(self.check("$ switchfold x", "title", "name  value")[0], 1)

    def test_a_line_that_is_not_printed_and_a_wrong_exit_code_are_errors_even_when_writing(self):
        for write in (False, True):
            self.assertEqual(self.check("$ switchfold x", "...", "gone 1", write=write)[0], 1)
            self.assertEqual(self.check("$ switchfold x 2", "title", "...", write=write)[0], 1)
        self.assertEqual(self.check("$ switchfold x 2", "title", "...", exit_code=" exit 2")[0], 0)


if __name__ == "__main__":
    unittest.main()
