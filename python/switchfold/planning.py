# SPDX-License-Identifier: Apache-2.0
"""The fastest plan that fits, and what fits into a GPU's memory."""
from __future__ import annotations

import json
import pathlib
from functools import cached_property
from typing import Any, Dict, Optional, Sequence, Union

from .program import PathLike, call
from .progress import ProgressOption
from .result import Folder, Result
from .running import run
from .source import Settings, Source, give, settings
from .tables import Table, read_csv, table


class PlanResult:
    """What a search of plans found (docs/planner.md). Times in seconds, memory in bytes."""

    def __init__(self, raw: Dict[str, Any], holder: Folder, program: Optional[PathLike]) -> None:
        self.raw = raw
        """The program's answer as it is."""
        self._holder = holder
        self._program = program

    @property
    def folder(self) -> pathlib.Path:
        """Where plan.json and plans.csv lie."""
        return self._holder.folder

    @property
    def proved(self) -> bool:
        """Whether no plan of the space is faster, to the simulator; False after a budget that was too small."""
        return self.raw["proved"]

    @cached_property
    def best(self) -> Table:
        """The best plan and its runners-up, the fastest first: `name`, `scenario`, `step_s`, the bound that no order
        of work is below (`bound_s`, and by what: arithmetic, links, path), `memory_bytes` of the fullest GPU,
        `step_without_contention_s` where that was simulated."""
        return table({name: value for name, value in plan.items() if name != "plan"} for plan in self.raw["best"])

    @cached_property
    def plans(self) -> Table:
        """All plans that were simulated (plans.csv)."""
        return read_csv(self._holder.file("plans.csv", "a search that has ended"))

    @property
    def experiment(self) -> pathlib.Path:
        """The best plan as an experiment's file."""
        return self._holder.file("plan.json", "a search that has ended")

    def run(self, **options: Any) -> Result:
        """Runs the best plan; options are those of `switchfold.run`."""
        options.setdefault("program", self._program)
        return run(self.experiment, **options)


def plan(
    experiment: Source,
    set: Settings = None,  # noqa: A002
    *,
    out: Optional[PathLike] = None,
    budget: Union[int, str, None] = None,
    jobs: Optional[int] = None,
    base: Optional[PathLike] = None,
    progress: ProgressOption = None,
    program: Optional[PathLike] = None,
) -> PlanResult:
    """Finds the fastest plan for a batch on a number of GPUs that fits their memory, with a proof.

    experiment: a training experiment with the key `planner` (docs/planner.md), as a path or a dict.
    out: folder that keeps what was simulated; a search there goes on.
    budget: no simulation begins after so many (200), or after so long ("90 s").
    set, jobs, base, progress, program: as of `run`.
    """
    given = give(experiment, base)
    holder = Folder(out)
    arguments = ["plan", given.argument, "--json", "--out", str(holder.folder.absolute()), *settings(set)]
    if budget is not None:
        arguments += ["--budget", str(budget)]
    if jobs is not None:
        arguments += ["--jobs", str(jobs)]
    ended = call(arguments, program=program, folder=given.folder, given=given.content, progress=progress)
    return PlanResult(json.loads(ended.output), holder, program)


class MemoryPlans:
    """What stays on a GPU with too little memory (docs/memory_plans.md). Sizes in bytes, times in seconds."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        """The program's answer as it is, with the names of what is pinned."""

    @cached_property
    def plans(self) -> Table:
        """One row a size of memory and planner: `memory_bytes`, `planner`, `staging`, `pinned_bytes`, `bytes_in`,
        `bytes_out`, `floor_bytes` that it runs in, `seconds` of an iteration without contention, `stall_s` waiting for
        copies, or `refused` and why."""
        return table({"memory_bytes": memory["memory_bytes"], **_cells(row)}
                     for memory in self.raw["memories"] for row in memory["plans"])

    @cached_property
    def simulated(self) -> Table:
        """The same plans with contention, where `simulate=True` asked for it."""
        return table(self.raw.get("simulated", []))

    @cached_property
    def updates(self) -> Table:
        """When weights are updated: `policy`, `gradient_bytes`, `shadow_bytes`, `seconds`, `stall_s`."""
        return table(self.raw["updates"])

    @cached_property
    def recompute(self) -> Table:
        """What is computed again: `what`, `activation_bytes`, `offloaded_bytes`, `extra_s`."""
        return table(self.raw["recompute"])


def plan_memory(
    experiment: Source,
    set: Settings = None,  # noqa: A002
    *,
    memory: Sequence[str] = (),
    updates: Optional[str] = None,
    simulate: bool = False,
    base: Optional[PathLike] = None,
    program: Optional[PathLike] = None,
) -> MemoryPlans:
    """Says what of a network stays on a GPU and what travels, by every planner.

    memory: sizes for everything, such as ["6 GiB", "8 GiB"]; without: a few and the GPU's own.
    updates: "batch" (after the backward pass) or "backward" (each layer's within it).
    simulate: simulates each plan too, with contention.
    """
    given = give(experiment, base)
    arguments = ["plan", "memory", given.argument, "--json", *settings(set)]
    for size in memory:
        arguments += ["--memory", size]
    if updates is not None:
        arguments += ["--updates", updates]
    if simulate:
        arguments.append("--simulate")
    ended = call(arguments, program=program, folder=given.folder, given=given.content)
    return MemoryPlans(json.loads(ended.output))


def _cells(row: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in row.items() if not isinstance(value, (dict, list))}
