# SPDX-License-Identifier: Apache-2.0
"""Runs one experiment."""
from __future__ import annotations

from typing import Optional

from .program import PathLike, call
from .progress import ProgressOption
from .result import Folder, Result
from .source import Settings, Source, give, settings


def run(
    experiment: Source,
    set: Settings = None,  # noqa: A002: named like the command-line option
    *,
    out: Optional[PathLike] = None,
    timeline: bool = False,
    rank_timelines: bool = False,
    jobs: Optional[int] = None,
    base: Optional[PathLike] = None,
    progress: ProgressOption = None,
    program: Optional[PathLike] = None,
) -> Result:
    """Runs an experiment's scenarios.

    experiment: path of an experiment file, or the experiment as a dict. Values with a dimension are strings with a
        unit: "256 MiB", "450 GB/s", "700 ns".
    set: maps JSON pointers to new values, also inside files that the experiment names:
        {"/system/topology/link/latency": "300 ns"}.
    out: folder that keeps the results; by default they are deleted with the Result.
    timeline: also writes a timeline for Perfetto.
    rank_timelines: also writes one trace per rank for Holistic Trace Analysis, into one folder per scenario below
        `rank-timelines`.
    jobs: number of scenarios that run at the same time; by default the number of cores.
    base: folder that paths in a dict are relative to; by default the working folder.
    progress: None shows a bar in a terminal or a notebook, False none; a function is called with each `Progress`.
    program: path of the program; see `find_program`.

    Raises InputError (with all problems), SimulationError, ProgramNotFound.
    """
    given = give(experiment, base)
    folder = Folder(out)
    arguments = ["run", given.argument, "--out", str(folder.folder.absolute()), *settings(set)]
    if timeline:
        arguments.append("--timeline")
    if rank_timelines:
        arguments.append("--rank-timelines")
    if jobs is not None:
        arguments += ["--jobs", str(jobs)]
    call(arguments, program=program, folder=given.folder, given=given.content, progress=progress)
    return Result(folder)


def load(folder: PathLike) -> Result:
    """Loads the results of a finished run: of `switchfold run --out FOLDER`, or of an earlier `run(out=FOLDER)`.

    Raises InputError where the folder holds no finished run.
    """
    return Result(folder)
