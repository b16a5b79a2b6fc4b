#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file of configs/ names its schema and conforms to it. Skipped (77) where python3-jsonschema is not installed.

usage: schemas_test.py REPOSITORY
"""
import json
import pathlib
import re
import sys
import unittest
import warnings

# Debian's jsonschema offers only RefResolver, which newer versions deprecate.
warnings.simplefilter("ignore", DeprecationWarning)
try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

CONFIGS = pathlib.Path(sys.argv.pop(1)).resolve() / "configs"
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def read(path):
    """Reads JSON with comments, as the program does."""
    return json.loads(COMMENT.sub(lambda found: found[1] or "", path.read_text(encoding="utf-8")))


def files():
    return [path for path in sorted(CONFIGS.rglob("*.json")) if path.parent.name != "schema"]


class Schemas(unittest.TestCase):
    def test_every_file_names_a_schema_that_is_there(self):
        for path in files():
            with self.subTest(path=str(path.relative_to(CONFIGS))):
                self.assertIn("$schema", read(path))
                self.assertTrue((path.parent / read(path)["$schema"]).is_file())

    def test_every_file_fits_its_schema(self):
        for path in files():
            content = read(path)
            schema = (path.parent / content["$schema"]).resolve()
            with self.subTest(path=str(path.relative_to(CONFIGS))):
                resolver = jsonschema.RefResolver(schema.as_uri(), read(schema))
                errors = jsonschema.Draft202012Validator(read(schema), resolver=resolver).iter_errors(content)
                self.assertEqual([f"/{'/'.join(map(str, e.path))}: {e.message[:200]}" for e in errors], [])

    def test_a_wrong_key_does_not(self):
        path = CONFIGS / "systems/hgx_h100.json"
        content = read(path)
        content["topologie"] = content.pop("topology")
        schema = (path.parent / content["$schema"]).resolve()
        resolver = jsonschema.RefResolver(schema.as_uri(), read(schema))
        self.assertFalse(jsonschema.Draft202012Validator(read(schema), resolver=resolver).is_valid(content))

    def test_a_wrong_program_does_not(self):
        path = CONFIGS / "programs/ring_all_reduce.json"
        schema = (path.parent / read(path)["$schema"]).resolve()
        validator = jsonschema.Draft202012Validator(read(schema))
        self.assertTrue(validator.is_valid(read(path)))
        for key, value in (("collective", "all_produce"), ("chunks", 1.5), ("blocks", [{"steps": [{"do": "fly"}]}]),
                           ("blocks", [{"steps": [{"chunk": 1}]}]), ("let", [{"A": 1}]), ("block", [])):
            self.assertFalse(validator.is_valid({**read(path), key: value}), key)


if __name__ == "__main__":
    unittest.main()
