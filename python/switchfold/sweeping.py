# SPDX-License-Identifier: Apache-2.0
"""Runs one experiment for many values of its parameters."""
from __future__ import annotations

import concurrent.futures
import pathlib
from functools import cached_property
from typing import Any, Dict, List, Optional

from .errors import InternalError, SimulationError
from .executing import run_on
from .program import PathLike, call
from .progress import ProgressOption
from .result import Folder
from .source import Source, give
from .tables import Table, read_database


class SweepResult:
    """The results of a sweep. docs/scenarios.md describes tables, columns and units."""

    def __init__(self, folder: "PathLike | Folder") -> None:
        self._holder = folder if isinstance(folder, Folder) else Folder(folder)
        self._database = self._holder.file("sweep.db", "the folder of a sweep")

    @property
    def folder(self) -> Any:
        """The folder of `sweep.db` and `results.csv`. Without `out` it is temporary and deleted with the object."""
        return self._holder.folder

    @cached_property
    def points(self) -> Table:
        """One row per point and scenario: each axis by its name (and as `NAME_number`, in bytes, us, GB/s or GHz, if
        its values are numbers), `status`, and the scenario's figures: times in us, bandwidths in GB/s, causes as
        fractions."""
        return self.query("SELECT * FROM results")

    @cached_property
    def failures(self) -> Table:
        """Points that could not be simulated: `point`, `name`, `error`."""
        return self.query("SELECT point, name, error FROM points JOIN runs USING (digest) WHERE status = 'failed'")

    @cached_property
    def axes(self) -> List[Dict[str, Any]]:
        """The varied parameters: `name`, `unit` of the values (None if they are not numbers), `labels` in order."""
        rows = _rows(self.query("SELECT a.axis, a.name, a.unit, v.label FROM axes a JOIN axis_values v USING (axis) "
                                "ORDER BY a.axis, v.position"))
        axes: Dict[Any, Dict[str, Any]] = {}
        for row in rows:
            axis = axes.setdefault(row["axis"], {"name": row["name"], "unit": row["unit"], "labels": []})
            axis["labels"].append(row["label"])
        return list(axes.values())

    def query(self, sql: str) -> Table:
        """The result of an SQL query on `sweep.db`, which is opened read-only."""
        return read_database(self._database, sql)


def _rows(answer: Table) -> List[Dict[str, Any]]:
    return answer if isinstance(answer, list) else answer.astype(object).where(answer.notna(), None).to_dict("records")


def sweep(
    sweep: Source,
    *,
    out: Optional[PathLike] = None,
    jobs: Optional[int] = None,
    memory: Optional[str] = None,
    base: Optional[PathLike] = None,
    allow_failures: bool = False,
    progress: ProgressOption = None,
    program: Optional[PathLike] = None,
    executor: Any = None,
    tasks: Optional[int] = None,
) -> SweepResult:
    """Runs an experiment for every combination of parameter values, on all cores.

    sweep: path of a sweep file, or the sweep as a dict: {"name", "experiment", "axes": [{"name", "pointer",
        "values" | "range" | "files"}]}. `experiment` is a path, or an experiment as a dict.
    out: folder that keeps the results. An interrupted sweep there is continued; finished points do not run again.
    jobs: number of experiments that run at the same time; by default the number of cores.
    memory: memory limit of one experiment, such as "4 GiB".
    allow_failures: if True, returns even if points failed (see `SweepResult.failures`). Otherwise failures raise
        SimulationError; finished points are kept in `out`.
    base, progress, program: as for `run`.
    executor: where the points run instead: any concurrent.futures.Executor, such as a ProcessPoolExecutor, the executor of
        a Dask client (`client` itself, or `client.get_executor()`) or MPI's MPIPoolExecutor. A worker needs the program, and
        the files that the sweep names under the same paths; results come back with the task. `jobs` has no meaning then.
    tasks: among how many tasks of the executor the points are divided; by default four a worker.
    """
    given = give(sweep, base)
    folder = Folder(out)
    if executor is not None:
        if given.content is None:
            given = given._replace(argument=str(pathlib.Path(given.argument).absolute()))
        elif given.folder is None:
            given = given._replace(folder=str(pathlib.Path.cwd()))
        limit = [] if memory is None else ["--memory", memory]
        try:
            run_on(executor, given, folder.folder.absolute(), limit, tasks, program, progress)
        except concurrent.futures.BrokenExecutor as error:
            kept = f"what had ended is kept in {out}, and" if out is not None else "give the sweep a folder (out=) to keep what ends;"
            raise InternalError(f"a worker of the executor was killed; {kept} the same call with a new executor goes on") from error
        result = SweepResult(folder)
        failed = _rows(result.failures)
        if failed and not allow_failures:
            raise SimulationError("\n".join(f"failed: {row['name']}: {row['error']}" for row in failed[:20]))
        return result
    arguments = ["sweep", given.argument, "--out", str(folder.folder.absolute())]
    if jobs is not None:
        arguments += ["--jobs", str(jobs)]
    if memory is not None:
        arguments += ["--memory", memory]
    ended = call(arguments, program=program, folder=given.folder, given=given.content, progress=progress, good=(0, 3))
    if ended.code == 3 and not allow_failures:
        raise SimulationError(ended.errors.strip())
    return SweepResult(folder)


def load_sweep(folder: PathLike) -> SweepResult:
    """Loads the results of an earlier sweep. Raises InputError if the folder holds none."""
    return SweepResult(folder)
