# SPDX-License-Identifier: Apache-2.0
"""The contents of traces, and which parts can be replayed."""
from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Dict, List, Optional

from .errors import Problem, raise_for
from .program import PathLike, call
from .tables import Table, table


class TraceCheck:
    """The result of `check` (docs/traces.md)."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        """The program's unchanged answer."""
        self.verdict: str = raw["verdict"]
        """In words: "replayable", "replayable with 2 assumptions" or "cannot be trusted"."""
        self.assumptions: List[str] = raw["assumptions"]
        """What `run` would assume, a sentence each."""
        self.problems: List[Problem] = [
            Problem.parse(f"{one['file']}: {one['where'] or '/'}: {one['message']}") for one in raw["problems"]]
        """The reasons why the traces cannot be trusted."""

    @property
    def ok(self) -> bool:
        """Whether the traces can be replayed."""
        return not self.problems

    @cached_property
    def files(self) -> Table:
        """One row per file: `format`, `gpu`, `rank`, `world_size`, `steps`, `kernels`, `collectives`, `copies`,
        `events`, `between_launches_us`."""
        return table({name: value for name, value in file.items() if not isinstance(value, (dict, list))}
                     for file in self.raw["files"])

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"<switchfold.TraceCheck: {self.verdict}>"


def check(*traces: PathLike, program: Optional[PathLike] = None) -> TraceCheck:
    """Checks whether the traces of one run, one per rank, can be replayed, and what is lost and why.

    Raises InputError for files that are not traces. Traces that contradict themselves or each other raise nothing:
    `ok` of the result is False and `problems` gives the reasons.
    """
    ended = call(["trace", "check", "--json", *(os.fspath(trace) for trace in traces)], program=program, good=(0, 2))
    if not ended.output:
        raise_for(ended.code, ended.errors)
    return TraceCheck(json.loads(ended.output))


class TraceInspection:
    """The contents of traces. Times are in us."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        """The program's unchanged answer."""

    @property
    def iteration_us(self) -> Optional[float]:
        """Duration of an iteration of the real run; None where the traces do not say it."""
        return self.raw["iteration_us"]

    @cached_property
    def phases(self) -> Table:
        """One row per rank and phase (forward, backward, ...): `kernels`, `time_us`."""
        return self._of_ranks("phases")

    @cached_property
    def collectives(self) -> Table:
        """One row per rank, kind and size: `size_bytes`, `count`, total `time_us`, `shortest_us`."""
        return self._of_ranks("collectives_by_size")

    @cached_property
    def largest_kernels(self) -> Table:
        """One row per rank and name: `count`, total `time_us`."""
        return self._of_ranks("kernels_by_time")

    def _of_ranks(self, key: str) -> Table:
        return table({"rank": rank["rank"], **row} for rank in self.raw["ranks"] for row in rank[key])


def inspect(*traces: PathLike, program: Optional[PathLike] = None) -> TraceInspection:
    """Machine, phases, collectives, overlap and the largest kernels of traces of one run."""
    ended = call(["trace", "inspect", "--json", *(os.fspath(trace) for trace in traces)], program=program)
    return TraceInspection(json.loads(ended.output))
