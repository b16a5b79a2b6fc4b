#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every parameter's JSON key is its member's name, so that one word is enough to find either. Keys that C++ reserves, and
`type`, which says what an object is, have members of other names."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELD = re.compile(r'\bfield\(\s*"([^"]+)"\s*,\s*&(\w+)::(\w+)')
RESERVED = {"switch", "class", "type"}


def fields():
    for folder in ("core", "workloads", "training", "interconnect", "models", "sim", "validation"):
        for path in sorted((ROOT / folder).rglob("*.h")):
            for key, owner, member in FIELD.findall(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(ROOT)}: {owner}::{member}", key, member


class ParameterNames(unittest.TestCase):
    def test_keys_are_members(self):
        found = list(fields())
        self.assertGreater(len(found), 500)
        crossed = [f"{where} is {key} in JSON" for where, key, member in found if key != member and key not in RESERVED]
        self.assertEqual(crossed, [])


if __name__ == "__main__":
    unittest.main()
