# SPDX-License-Identifier: Apache-2.0
"""The version comes from the project's CMakeLists.txt, the one place where it stands."""
import pathlib
import re

from setuptools import setup

PROJECT = pathlib.Path(__file__).resolve().parent.parent / "CMakeLists.txt"
VERSION = re.search(r"^project\(switchfold VERSION (\S+)", PROJECT.read_text(encoding="utf-8"), re.MULTILINE)

setup(version=VERSION[1])
