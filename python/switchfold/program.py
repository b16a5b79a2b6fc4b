# SPDX-License-Identifier: Apache-2.0
"""Finds the program and runs it."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Callable, NamedTuple, Optional, Sequence, Union

from .errors import ProgramNotFound, raise_for
from .progress import Progress, ProgressOption, Terminal, shower

VARIABLE = "SWITCHFOLD"
PathLike = Union[str, "os.PathLike[str]"]


def find_program(program: Optional[PathLike] = None) -> pathlib.Path:
    """Finds the program, in this order: `program`, the environment variable SWITCHFOLD, `switchfold` in PATH, and the
    prefix that this package is installed under (PREFIX/bin/switchfold).

    Raises ProgramNotFound, also where `program` or SWITCHFOLD names a missing program: there is no fallback then.
    """
    named = [("program", program), (f"the variable {VARIABLE}", os.environ.get(VARIABLE) or None)]
    for what, path in named:
        if path is None:
            continue
        found = shutil.which(os.fspath(path))
        if found is None:
            raise ProgramNotFound(f"{what} names {os.fspath(path)}, which is no program that can be run")
        return pathlib.Path(found).absolute()
    found = shutil.which("switchfold")
    if found is not None:
        return pathlib.Path(found).absolute()
    for folder in pathlib.Path(__file__).resolve().parents:
        installed = folder / "bin" / "switchfold"
        if os.access(installed, os.X_OK) and installed.is_file():
            return installed
    raise ProgramNotFound(
        f"no program switchfold: neither an argument nor the variable {VARIABLE} names one, PATH has none, and there is "
        "no bin/switchfold above this package; expected one of these"
    )


class Ended(NamedTuple):
    """Exit code and output of a call of the program."""

    code: int
    output: bytes
    errors: str


def call(
    arguments: Sequence[str],
    *,
    program: Optional[PathLike] = None,
    folder: Optional[PathLike] = None,
    given: Optional[bytes] = None,
    progress: ProgressOption = False,
    good: Sequence[int] = (0,),
) -> Ended:
    """Runs the program in `folder` with `given` as standard input. Raises the exception for the exit code unless it is
    in `good`. An exception during the call, such as Ctrl-C, kills the program first."""
    command = [os.fspath(find_program(program)), *arguments]
    show = shower(progress)
    held = None if given is None else _file_of(given)
    try:
        if show is None:
            ended = _quietly(command, folder, held)
        else:
            with show:
                ended = _shown(command, folder, held, show)
    finally:
        if held is not None:
            os.close(held)
    if ended.code not in good:
        raise_for(ended.code, ended.errors)
    return ended


def _file_of(content: bytes) -> int:
    """Puts `content` into an anonymous file, which the program can read more than once, unlike a pipe."""
    held = os.memfd_create("switchfold")
    with os.fdopen(os.dup(held), "wb") as file:
        file.write(content)
    os.lseek(held, 0, os.SEEK_SET)
    return held


def _quietly(command: Sequence[str], folder: Optional[PathLike], given: Optional[int]) -> Ended:
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL if given is None else given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            output, errors = process.communicate()
        except BaseException:
            process.kill()
            raise
    return Ended(process.returncode, output, errors.decode("utf-8", "replace"))


def _shown(command: Sequence[str], folder: Optional[PathLike], given: Optional[int],
           show: Callable[[Progress], None]) -> Ended:
    """Runs the program with a pseudo-terminal as standard error, since it writes progress only to terminals."""
    try:
        terminal = Terminal()
    except OSError:  # a sandbox without /dev/pts: no progress is shown
        return _quietly(command, folder, given)
    with terminal:
        with subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL if given is None else given,
            stdout=subprocess.PIPE,
            stderr=terminal.its_side,
        ) as process:
            assert process.stdout is not None
            try:
                output, errors = terminal.read(process.stdout, show)
            except BaseException:
                process.kill()
                raise
    return Ended(process.returncode, output, errors)
