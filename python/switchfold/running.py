# SPDX-License-Identifier: Apache-2.0
"""One experiment."""
from __future__ import annotations

from typing import Optional

from .program import PathLike, call
from .progress import ProgressOption
from .result import Folder, Result
from .source import Settings, Source, give, settings


def run(
    experiment: Source,
    set: Settings = None,  # noqa: A002: the command line's own word
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

    experiment: path of an experiment's file, or the experiment as a dict. Values with a dimension are strings with a
        unit: "256 MiB", "450 GB/s", "700 ns".
    set: JSON pointer to the value to put there, also inside files that the experiment names:
        {"/system/topology/link/latency": "300 ns"}.
    out: folder that keeps the results; without it they go with the Result.
    timeline: writes a timeline for Perfetto too.
    rank_timelines: writes a trace a rank too, for Holistic Trace Analysis: folders of scenarios in `rank-timelines` of
        the folder.
    jobs: scenarios that run at the same time; without it, as many as there are cores.
    base: folder that paths in a dict are relative to; without it the working folder.
    progress: None shows a bar in a terminal or a notebook, False none; a function gets each `Progress`.
    program: the program; see `find_program`.

    Raises InputError with all that is wrong, SimulationError, ProgramNotFound.
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
    """The results of a run that has finished: of `switchfold run --out FOLDER`, or of an earlier `run(out=FOLDER)`.

    Raises InputError where the folder holds no finished run.
    """
    return Result(folder)
