# SPDX-License-Identifier: Apache-2.0
"""Searches for the fastest plan that fits, and plans of what fits into a GPU's memory."""
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
    """The result of a search for plans (docs/planner.md). Times are in seconds, memory in bytes."""

    def __init__(self, raw: Dict[str, Any], holder: Folder, program: Optional[PathLike]) -> None:
        self.raw = raw
        """The program's unchanged answer."""
        self._holder = holder
        self._program = program

    @property
    def folder(self) -> pathlib.Path:
        """The folder of plan.json and plans.csv."""
        return self._holder.folder

    @property
    def proved(self) -> bool:
        """Whether, according to the simulator, no plan of the space is faster; False if the budget was too small."""
        return self.raw["proved"]

    @cached_property
    def best(self) -> Table:
        """The best plan and its runners-up, fastest first: `name`, `scenario`, `step_s`, the lower bound for any order
        of work (`bound_s`, and what sets it: arithmetic, links, path), `memory_bytes` of the fullest GPU,
        `step_without_contention_s` where that was simulated."""
        return table({name: value for name, value in plan.items() if name != "plan"} for plan in self.raw["best"])

    @cached_property
    def plans(self) -> Table:
        """All simulated plans (plans.csv)."""
        return read_csv(self._holder.file("plans.csv", "a search that has ended"))

    @property
    def experiment(self) -> pathlib.Path:
        """The best plan as an experiment file."""
        return self._holder.file("plan.json", "a search that has ended")

    def run(self, **options: Any) -> Result:
        """Runs the best plan; takes the options of `switchfold.run`."""
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
    """Finds the fastest plan for a batch on a number of GPUs that fits their memory, and proves that none is faster.

    experiment: a training experiment with the key `planner` (docs/planner.md), as a path or a dict.
    out: folder that keeps the simulated plans; an earlier search there is continued.
    budget: starts no simulation after this many (200), or after this time ("90 s").
    set, jobs, base, progress, program: as for `run`.
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
    """What stays on a GPU with too little memory (docs/memory_plans.md). Sizes are in bytes, times in seconds."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        """The program's unchanged answer, with the names of what is retained."""

    @cached_property
    def plans(self) -> Table:
        """One row per memory size and planner: `memory_bytes`, `planner`, `staging`, `retained_bytes`, `bytes_in`,
        `bytes_out`, `floor_bytes` (the least memory to run in), `seconds` of a simulated iteration, `peak_memory_gib`,
        bounds on the seconds (`plan_at_least_s` of this plan, `at_least_s` of any order of copies), or `refused` with
        the reason."""
        return table({"memory_bytes": memory["memory_bytes"], **_cells(row)}
                     for memory in self.raw["memories"] for row in memory["plans"])

    @cached_property
    def simulated(self) -> Table:
        """The simulated plans alone; empty with `simulate=False`."""
        return table(self.raw.get("simulated", []))

    @cached_property
    def updates(self) -> Table:
        """When weights are updated: `policy`, `gradient_bytes`, `shadow_bytes`, and a bound on the seconds of
        backward pass and updates, `at_least_s`."""
        return table(self.raw["updates"])

    @cached_property
    def recompute(self) -> Table:
        """What is recomputed: `what`, `activation_bytes`, `offloaded_bytes`, `extra_s` of the kernels that run again."""
        return table(self.raw["recompute"])


def plan_memory(
    experiment: Source,
    set: Settings = None,  # noqa: A002
    *,
    memory: Sequence[str] = (),
    updates: Optional[str] = None,
    simulate: bool = True,
    base: Optional[PathLike] = None,
    program: Optional[PathLike] = None,
) -> MemoryPlans:
    """Computes, with every planner, which parts of a network stay on a GPU and which are copied to the host and back.

    memory: total sizes, such as ["6 GiB", "8 GiB"]; by default a few sizes and the GPU's own.
    updates: "batch" (after the backward pass) or "backward" (each layer within it); by default as in the experiment.
    simulate: simulates each plan; False: bounds only.
    """
    given = give(experiment, base)
    arguments = ["plan", "memory", given.argument, "--json", *settings(set)]
    for size in memory:
        arguments += ["--memory", size]
    if updates is not None:
        arguments += ["--updates", updates]
    if not simulate:
        arguments.append("--bounds")
    ended = call(arguments, program=program, folder=given.folder, given=given.content)
    return MemoryPlans(json.loads(ended.output))


def _cells(row: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in row.items() if not isinstance(value, (dict, list))}
