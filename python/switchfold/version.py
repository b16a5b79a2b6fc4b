# SPDX-License-Identifier: Apache-2.0
"""The package's version: that of the project, which only its CMakeLists.txt defines."""
import importlib.metadata
import pathlib
import re


def _version() -> str:
    project = pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt"
    if project.is_file():  # not installed: running from the repository
        found = re.search(r"^project\(switchfold VERSION (\S+)", project.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1]
    return importlib.metadata.version("switchfold")


__version__ = _version()
