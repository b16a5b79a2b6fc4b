#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version is defined in one place, and its copies agree; containers take their packages from scripts/setup.

usage: version_and_containers_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


def text(path):
    return (SOURCE / path).read_text(encoding="utf-8")


class Version(unittest.TestCase):
    version = re.search(r"^project\(switchfold VERSION (\S+)", text("CMakeLists.txt"), re.MULTILINE)[1]

    def test_the_program_says_it(self):
        said = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, f"switchfold {self.version}\n")

    def test_the_python_package_says_it(self):
        sys.path.insert(0, str(SOURCE / "python"))
        import switchfold

        self.assertEqual(switchfold.__version__, self.version)

    def test_the_citation_says_it(self):
        citation = text("CITATION.cff")
        self.assertIn(f"\nversion: {self.version}\n", citation)
        for key in ("cff-version", "message", "title", "authors", "license"):
            self.assertRegex(citation, rf"(?m)^{key}:")

    def test_the_changes_begin_with_it(self):
        self.assertEqual(re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1], self.version)


class Containers(unittest.TestCase):
    def test_their_packages_are_those_of_setup(self):
        """Containers run scripts/setup, since a second list of packages would become outdated."""
        container = text("Containerfile")
        self.assertIn("COPY scripts/setup /opt/setup\nRUN /opt/setup --tests", container)
        installed = re.findall(r"apt-get install ([^&\n]+)", container)
        self.assertEqual([word for line in installed for word in line.split() if not word.startswith("-")], ["/tmp/*.deb"])

    def test_the_devcontainer_is_a_stage_of_it(self):
        build = json.loads(text(".devcontainer/devcontainer.json"))["build"]
        self.assertEqual((SOURCE / ".devcontainer" / build["dockerfile"]).resolve(), SOURCE / "Containerfile")
        self.assertIn(f" AS {build['target']}\n", text("Containerfile"))

    def test_setup_names_packages_once(self):
        lists = re.findall(r"packages\+?=\(([^)]*)\)", text("scripts/setup"))
        names = [name for group in lists for name in group.split()]
        self.assertEqual(sorted(names), sorted(set(names)))


if __name__ == "__main__":
    unittest.main()
