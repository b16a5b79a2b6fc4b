# SPDX-License-Identifier: Apache-2.0
"""Input files, given as a path or as a dict of their content."""
from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, NamedTuple, Optional, Union

from .program import PathLike

Source = Union[PathLike, Mapping[str, Any]]
"""A path, or the file's content as a dict with paths relative to `base`."""
Settings = Optional[Mapping[str, Any]]
"""Maps JSON pointers to new values: {"/workload/size": "1 MiB"}."""


class Given(NamedTuple):
    """How a source is passed to the program."""

    argument: str
    content: Optional[bytes]
    folder: Optional[str]


def give(source: Source, base: Optional[PathLike]) -> Given:
    """Passes a dict through standard input ("-"); the program then runs in `base` (default: the working folder)."""
    if isinstance(source, Mapping):
        return Given("-", _json(source).encode(), None if base is None else os.fspath(base))
    if base is not None:
        raise TypeError("base is the folder of a dict's paths; a file's paths are relative to the file")
    return Given(os.fspath(source), None, None)


def settings(values: Settings) -> List[str]:
    """The settings as command-line arguments."""
    arguments: List[str] = []
    for pointer, value in (values or {}).items():
        if not pointer.startswith("/"):
            raise ValueError(f'"{pointer}" is not a JSON pointer; expected one such as "/workload/size"')
        arguments += ["--set", f"{pointer}={_json(value)}"]
    return arguments


def _json(value: Any) -> str:
    return json.dumps(value, default=_path, allow_nan=False)


def _path(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item"):  # a numpy number, such as a cell of a DataFrame
        return value.item()
    raise TypeError(f"{value!r} is nothing that JSON has; expected strings, numbers, lists and dicts")
