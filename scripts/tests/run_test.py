#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/run takes an installed package of the checkout's version, and builds where there is none or --build is given.

The checkout is a copy of scripts/run beside stubs: dpkg-query says what is installed, setup and the build leave a mark.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(switchfold VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"),
                    re.MULTILINE)[1]
PROGRAM = '#!/bin/sh\necho "{name} $*"\n'
DPKG_QUERY = """#!/bin/sh
[ -n "{version}" ] || exit 1
case $1 in
-W) echo "installed {version}" ;;
-L) printf '%s\\n' /. /usr "{program}" ;;
esac
"""
BUILD_LIB = """build_preset() {{ echo "$*" >> {marks}; mkdir -p build/release/app; cp {built} build/release/app/switchfold; }}
"""


class Run(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name) / "checkout"
        self.marks = self.root / "marks"
        (self.root / "scripts").mkdir(parents=True)
        (self.root / "configs/experiments").mkdir(parents=True)
        shutil.copy(ROOT / "scripts/run", self.root / "scripts/run")
        shutil.copy(ROOT / "CMakeLists.txt", self.root / "CMakeLists.txt")
        self.write("mine.json", "{}")
        self.write("configs/experiments/example.json", "{}")
        self.write("usr/bin/switchfold", PROGRAM.format(name="installed"))
        built = self.write("built", PROGRAM.format(name="built"))
        self.write("scripts/setup", f'#!/bin/sh\necho "setup $*" >> {self.marks}\n')
        self.write("scripts/build_lib.sh", BUILD_LIB.format(marks=self.marks, built=built))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def run_it(self, *arguments, version, code=0):
        self.write("bin/dpkg-query", DPKG_QUERY.format(version=version, program=self.root / "usr/bin/switchfold"))
        done = subprocess.run([self.root / "scripts/run", *arguments], capture_output=True, text=True, timeout=100,
                              check=False, cwd=self.root,
                              env={**os.environ, "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, code, done.stderr)
        marks = self.marks.read_text(encoding="utf-8").splitlines() if self.marks.exists() else []
        return done, marks

    def test_an_installed_package_of_this_version_runs_and_nothing_is_built(self):
        for version in (VERSION, VERSION + "-1"):
            done, marks = self.run_it("mine.json", "--json", version=version)
            self.assertEqual(marks, [])
            self.assertIn(f"installed run {self.root}/mine.json --out {self.root}/runs/mine --json", done.stdout)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("usr/bin/switchfold, and builds nothing", done.stderr)

    def test_without_a_package_it_builds_the_program_first(self):
        done, marks = self.run_it(version="")
        self.assertEqual(marks, ["setup ", "release switchfold"])
        self.assertIn("built run", done.stdout)
        self.assertIn("builds the program first, about four minutes", done.stderr)
        again, _ = self.run_it(version="")
        self.assertEqual(again.stderr, "")

    def test_what_it_cannot_do_is_said_before_anything_is_built(self):
        for argument, says in (("--hlp", "run: --hlp: unknown option; expected --build, --help, or an experiment's file"),
                               ("none.json", f"run: {self.root}/none.json: is not there; expected an experiment's file")):
            done, marks = self.run_it(argument, version="", code=2)
            self.assertEqual((done.stderr.strip(), marks), (says, []))
        done, marks = self.run_it("--help", version="")
        self.assertIn("usage: scripts/run", done.stdout)
        self.assertEqual(marks, [])

    def test_build_builds_beside_a_package(self):
        done, marks = self.run_it("--build", version=VERSION)
        self.assertEqual(marks, ["setup ", "release switchfold"])
        self.assertIn("built run", done.stdout)

    def test_another_version_is_named_and_the_checkout_is_built(self):
        done, marks = self.run_it(version="9.8.7")
        self.assertEqual(marks, ["setup ", "release switchfold"])
        self.assertIn(f"the installed package is switchfold 9.8.7, this checkout is {VERSION}; it is built", done.stderr)

    def test_a_package_that_was_removed_counts_as_none(self):
        (self.root / "usr/bin/switchfold").unlink()
        _, marks = self.run_it(version=VERSION)
        self.assertEqual(marks, ["setup ", "release switchfold"])


if __name__ == "__main__":
    unittest.main()
