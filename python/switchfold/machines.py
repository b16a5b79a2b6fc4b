# SPDX-License-Identifier: Apache-2.0
"""Machines, the shipped files, and the program itself."""
from __future__ import annotations

import json
import pathlib
from functools import lru_cache
from typing import Any, Dict, Optional

from .errors import InputError, Problem
from .program import PathLike, call, find_program
from .source import Settings, Source, give, settings


def describe(
    system: Source,
    set: Settings = None,  # noqa: A002
    *,
    dot: bool = False,
    base: Optional[PathLike] = None,
    program: Optional[PathLike] = None,
) -> str:
    """Describes a system in words: its GPUs and links, the peak bandwidth of its graph and memory, and how all-reduces
    of each size would run. `dot` returns its graph for Graphviz instead."""
    given = give(system, base)
    arguments = ["describe", given.argument, *settings(set)] + (["--dot"] if dot else [])
    return call(arguments, program=program, folder=given.folder, given=given.content).output.decode()


def schema(kind: str = "experiment", *, program: Optional[PathLike] = None) -> Dict[str, Any]:
    """The JSON Schema of a kind of file: "experiment", "system", "sweep", ..."""
    return json.loads(call(["schema", kind], program=program).output)


def program_version(*, program: Optional[PathLike] = None) -> str:
    """The program's version, such as "0.1.0"."""
    return call(["--version"], program=program).output.decode().split()[-1]


def shipped(path: str, *, program: Optional[PathLike] = None) -> pathlib.Path:
    """A file that ships with the program: shipped("experiments/example.json"), shipped("systems/hgx_h100.json").

    The folders above the program are searched for `configs` (a build in the repository) and
    `share/switchfold/configs` (an installed program).
    """
    return _configs(find_program(program)) / path


@lru_cache(maxsize=None)
def _configs(program: pathlib.Path) -> pathlib.Path:
    for folder in program.resolve().parents:
        for configs in (folder / "configs", folder / "share/switchfold/configs"):
            if (configs / "systems").is_dir():
                return configs
    raise InputError([Problem(str(program), "/", "has no configs above it", "the repository, or an installed program")])
