# SPDX-License-Identifier: Apache-2.0
"""The version is read from the project's CMakeLists.txt, the only place that defines it."""
import pathlib
import re

from setuptools import setup

PROJECT = pathlib.Path(__file__).resolve().parent.parent / "CMakeLists.txt"
VERSION = re.search(r"^project\(switchfold VERSION (\S+)", PROJECT.read_text(encoding="utf-8"), re.MULTILINE)

setup(version=VERSION[1])
