# SPDX-License-Identifier: Apache-2.0
"""What is in a trace, and what of it can be replayed."""
from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Dict, List, Optional

from .errors import Problem, raise_for
from .program import PathLike, call
from .tables import Table, table


class TraceCheck:
    """What `check` says of traces (docs/traces.md)."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        """The program's answer as it is."""
        self.verdict: str = raw["verdict"]
        """In words: "can be replayed", with what had to be mended, or "cannot be trusted"."""
        self.problems: List[Problem] = [
            Problem.parse(f"{one['file']}: {one['where'] or '/'}: {one['message']}") for one in raw["problems"]]
        """Why it cannot be trusted."""

    @property
    def ok(self) -> bool:
        """Whether it can be replayed."""
        return not self.problems

    @cached_property
    def files(self) -> Table:
        """One row a file: `format`, `gpu`, `rank`, `world_size`, `steps`, `kernels`, `collectives`, `copies`,
        `events`, `between_launches_us`."""
        return table({name: value for name, value in file.items() if not isinstance(value, (dict, list))}
                     for file in self.raw["files"])

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"<switchfold.TraceCheck: {self.verdict}>"


def check(*traces: PathLike, program: Optional[PathLike] = None) -> TraceCheck:
    """Whether traces of one run, one a rank, can be replayed, and what of them is lost and why.

    Raises InputError for files that are no traces. Traces that contradict themselves or each other are no error: the
    answer's `ok` is False and its `problems` say why.
    """
    ended = call(["trace", "check", "--json", *(os.fspath(trace) for trace in traces)], program=program, good=(0, 2))
    if not ended.output:
        raise_for(ended.code, ended.errors)
    return TraceCheck(json.loads(ended.output))


class TraceInspection:
    """What is in traces. Times in us."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        """The program's answer as it is."""

    @property
    def iteration_us(self) -> float:
        """An iteration of the real run."""
        return self.raw["iteration_us"]

    @cached_property
    def phases(self) -> Table:
        """One row a rank and phase (forward, backward, ...): `kernels`, `time_us`."""
        return self._of_ranks("phases")

    @cached_property
    def collectives(self) -> Table:
        """One row a rank, kind and size: `size_bytes`, `count`, `time_us` of all, `shortest_us`."""
        return self._of_ranks("collectives_by_size")

    @cached_property
    def largest_kernels(self) -> Table:
        """One row a rank and name: `count`, `time_us` of all."""
        return self._of_ranks("kernels_by_time")

    def _of_ranks(self, key: str) -> Table:
        return table({"rank": rank["rank"], **row} for rank in self.raw["ranks"] for row in rank[key])


def inspect(*traces: PathLike, program: Optional[PathLike] = None) -> TraceInspection:
    """Machine, phases, collectives, overlap and the largest kernels of traces of one run."""
    ended = call(["trace", "inspect", "--json", *(os.fspath(trace) for trace in traces)], program=program)
    return TraceInspection(json.loads(ended.output))
