# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from common import collective

import switchfold
from switchfold import program as of_program

PACKAGE = pathlib.Path(switchfold.__file__).resolve().parent


class Found(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()

    def fake(self, place):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    def test_argument_then_variable_then_path(self):
        argument, variable, path = self.fake("a/x"), self.fake("b/y"), self.fake("c/switchfold")
        with mock.patch.dict(os.environ, SWITCHFOLD=str(variable), PATH=str(path.parent)):
            self.assertEqual(switchfold.find_program(argument), argument)
            self.assertEqual(switchfold.find_program(), variable)
            del os.environ["SWITCHFOLD"]
            self.assertEqual(switchfold.find_program(), path)

    def test_then_the_prefix_it_is_installed_under(self):
        module = self.folder / "usr/lib/python3/dist-packages/switchfold/program.py"
        with mock.patch.dict(os.environ, PATH=""), mock.patch.object(of_program, "__file__", str(module)):
            os.environ.pop("SWITCHFOLD", None)
            with self.assertRaisesRegex(switchfold.ProgramNotFound, "SWITCHFOLD.*PATH"):
                switchfold.find_program()
            program = self.fake("usr/bin/switchfold")
            self.assertEqual(switchfold.find_program(), program)

    def test_what_was_named_is_never_replaced(self):
        with mock.patch.dict(os.environ, SWITCHFOLD="/nowhere/switchfold"):
            with self.assertRaisesRegex(switchfold.ProgramNotFound, "variable SWITCHFOLD names /nowhere"):
                switchfold.run(collective())
        with self.assertRaisesRegex(switchfold.ProgramNotFound, "program names x"):
            switchfold.find_program("x")


class Imports(unittest.TestCase):
    def test_nothing_but_the_standard_library_is_imported(self):
        """Python's option -S leaves out site-packages."""
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import switchfold; "
                "assert not {'pandas', 'numpy', 'matplotlib', 'IPython'} & set(sys.modules)")
        subprocess.run([sys.executable, "-I", "-S", "-c", code, str(PACKAGE.parent)], check=True)


class Wheel(unittest.TestCase):
    def test_it_is_built_installs_and_runs(self):
        tools = subprocess.run([sys.executable, "-c", "import build, setuptools, wheel, pip"], capture_output=True, check=False)
        if tools.returncode != 0:
            self.skipTest("python3-build, python3-setuptools, python3-wheel or python3-pip is not installed")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            copy = folder / "project/python"
            shutil.copytree(PACKAGE.parent, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
            shutil.copy(PACKAGE.parents[1] / "CMakeLists.txt", folder / "project")
            built = subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, copy],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
            wheel = folder / f"switchfold-{switchfold.__version__}-py3-none-any.whl"
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target",
                            folder / "site", wheel], check=True, capture_output=True)
            code = ("import switchfold, importlib.metadata as m; assert switchfold.__version__ == m.version('switchfold'); "
                    "print(switchfold.__file__, switchfold.program_version())")
            ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=folder,
                                 env={**os.environ, "PYTHONPATH": str(folder / "site"),
                                      "SWITCHFOLD": str(switchfold.find_program())})
            self.assertIn(str(folder.resolve() / "site"), str(pathlib.Path(ran.stdout.split()[0]).resolve()))


if __name__ == "__main__":
    unittest.main()
