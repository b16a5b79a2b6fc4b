# SPDX-License-Identifier: Apache-2.0
"""One experiment for many values of its parameters."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Dict, List, Optional

from .errors import SimulationError
from .program import PathLike, call
from .progress import ProgressOption
from .result import Folder
from .source import Source, give
from .tables import Table, read_database


class SweepResult:
    """What a sweep left. Tables, columns and units are described in docs/sweeps.md."""

    def __init__(self, folder: "PathLike | Folder") -> None:
        self._holder = folder if isinstance(folder, Folder) else Folder(folder)
        self._database = self._holder.file("sweep.db", "the folder of a sweep")

    @property
    def folder(self) -> Any:
        """Where `sweep.db` and `results.csv` lie. Without `out` a temporary folder, gone with the object."""
        return self._holder.folder

    @cached_property
    def points(self) -> Table:
        """One row a point and scenario: each axis by its name (and as `NAME_number`, in bytes, us, GB/s or GHz, where
        its values are numbers), `status`, and the scenario's figures: times in us, bandwidths in GB/s, causes as
        fractions."""
        return self.query("SELECT * FROM results")

    @cached_property
    def failures(self) -> Table:
        """Points that could not be simulated: `point`, `name`, `error`."""
        return self.query("SELECT point, name, error FROM points JOIN runs USING (digest) WHERE status = 'failed'")

    @cached_property
    def axes(self) -> List[Dict[str, Any]]:
        """What is varied: `name`, `unit` of its numbers (None if its values are no numbers), `labels` in order."""
        rows = _rows(self.query("SELECT a.axis, a.name, a.unit, v.label FROM axes a JOIN axis_values v USING (axis) "
                                "ORDER BY a.axis, v.position"))
        axes: Dict[Any, Dict[str, Any]] = {}
        for row in rows:
            axis = axes.setdefault(row["axis"], {"name": row["name"], "unit": row["unit"], "labels": []})
            axis["labels"].append(row["label"])
        return list(axes.values())

    def query(self, sql: str) -> Table:
        """What a query of `sweep.db` answers; it is opened for reading only."""
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
) -> SweepResult:
    """Runs an experiment for every combination of some parameters' values, on all cores.

    sweep: path of a sweep's file, or the sweep as a dict: {"name", "experiment", "axes": [{"name", "pointer",
        "values" | "range" | "files"}]}. `experiment` is a path, or an experiment as a dict.
    out: folder that keeps the results. A sweep there goes on where it was stopped: nothing runs twice.
    jobs: experiments that run at the same time; without it, as many as there are cores.
    memory: most memory of one experiment, such as "4 GiB".
    allow_failures: True returns also where points failed (see `SweepResult.failures`); else that raises
        SimulationError, and what is done is kept in `out`.
    base, progress, program: as of `run`.
    """
    given = give(sweep, base)
    folder = Folder(out)
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
    """The results of an earlier sweep. Raises InputError where the folder holds none."""
    return SweepResult(folder)
