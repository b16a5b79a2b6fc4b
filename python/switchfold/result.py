# SPDX-License-Identifier: Apache-2.0
"""The results of a run: its folder, as tables."""
from __future__ import annotations

import gzip
import html
import json
import os
import pathlib
import shutil
import tempfile
import weakref
from functools import cached_property
from typing import Any, Dict, Iterator, List, Mapping, Optional

from . import result_types
from .errors import InputError, Problem
from .program import PathLike, call
from .tables import Table, read_csv, table


class Folder:
    """A folder of results: the caller's, or a temporary one that is deleted with the object."""

    def __init__(self, path: Optional[PathLike]) -> None:
        if path is None:
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="switchfold-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        else:
            self.folder = pathlib.Path(path)

    def file(self, name: str, otherwise: str) -> pathlib.Path:
        """The path of a file in the folder. If it is missing, raises InputError that says `otherwise` was expected."""
        path = self.folder / name
        if not path.is_file():
            raise InputError([Problem(str(path), "/", "does not exist", otherwise)])
        return path


class Result:
    """A finished run. Simulated times are in microseconds (`_us`), sizes in bytes, bandwidths in GB/s (10^9 bytes per
    second). Slowdowns and shares are fractions: 0.16 is 16 %. docs/results.md describes all columns.

    Each table is read when first used.
    """

    def __init__(self, folder: "PathLike | Folder") -> None:
        self._holder = folder if isinstance(folder, Folder) else Folder(folder)
        content = self._holder.file("result.json", "the folder of a finished run").read_bytes()
        self.raw: "result_types.Experiment" = json.loads(content)
        """The content of result.json; `result_types` has its keys."""

    @property
    def folder(self) -> pathlib.Path:
        """The folder of the run's files. Without `out` it is temporary and deleted with the Result."""
        return self._holder.folder

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.raw["experiment"]

    def __getitem__(self, scenario: str) -> "result_types.Scenario":
        """The entry of the scenario with this name in result.json."""
        for one in self.raw["scenarios"]:
            if one["name"] == scenario:
                return one
        raise KeyError(f"{scenario}; the scenarios are: {', '.join(one['name'] for one in self.raw['scenarios'])}")

    @cached_property
    def scenarios(self) -> Table:
        """One row per scenario: `iteration_us`, `forward_us`, `backward_us`, `exposed_communication_us`,
        `backward_slowdown`, `speedup`, `samples_per_s`; of a run in which members come and go `run_us`, `run_members`,
        `run_paused_us` and so on (docs/statistics.md); of a small network `final_loss`, `time_to_target_us`; causes of the slowdown as `cause_sm` ... `cause_other`, those of the other phases
        as `forward_cause_sm` and so on (`optimizer_`, `other_`, and `kernel_` of a kernel beside a collective), the peak
        memory of the fullest GPU as `peak_memory_bytes`, and so on. 90 % of such cases lie between `iteration_us_at_least` and
        `iteration_us_at_most`, and likewise for other times, slowdowns and gains (`intervals` says what this rests on)."""
        return table(_known([_flat(scenario) for scenario in self.raw["scenarios"]]))

    @cached_property
    def intervals(self) -> Table:
        """One row per scenario and figure that has an interval: `scenario`, `figure`, its `value`, and the ends `at_least`
        and `at_most` between which 90 % of measured values lie in cases like it; `like` says which cases these are. Where
        `measured` is False, no case is like a part of it: the ends are those of its other parts, or missing."""
        return table((_interval_row(scenario["name"], figure, scenario.get(figure), interval)
                      for scenario in self.raw["scenarios"] for figure, interval in (scenario.get("intervals") or {}).items()),
                     ("scenario", "figure", "value", "at_least", "at_most", "measured", "like"))

    @cached_property
    def collectives(self) -> Table:
        """One row per collective: `algorithm`, `protocol`, `size_bytes`, `start_us`, `time_us`,
        `algorithm_bandwidth_GBps`, `bus_bandwidth_GBps`; where a scenario runs one or a few alone also their intervals, as
        `time_us_at_least` and `time_us_at_most`."""
        return self._of_scenarios("collectives")

    @cached_property
    def links(self) -> Table:
        """One row per link that carried data; `units("links")` gives the units."""
        return self.components("links")

    @cached_property
    def kernels(self) -> Table:
        """One row per replayed kernel: `start_us`, `duration_us`, `isolated_us` (alone on the GPU), `slowdown`,
        `overlapped_share`, `bytes_read`, `bytes_written`, `flops`."""
        return self.table("kernels")

    @cached_property
    def memory(self) -> Table:
        """What each GPU holds, in bytes by class: one row for each moment (`time_us`) at which it changes. Only for
        generated steps with a plan. `components("memory")` has the counters of the memory system."""
        return self.table("memory")

    @cached_property
    def passes(self) -> Table:
        """One row per pass of a plan: `start_us`, `duration_us`."""
        return self.table("passes")

    @cached_property
    def timeline(self) -> Dict[str, Any]:
        """The timeline of a run with `timeline=True`, in the format of PyTorch's profiler (`traceEvents`; `ts` and
        `dur` in microseconds). Perfetto opens the file, `timeline.json.gz` in the folder."""
        with gzip.open(self._holder.file("timeline.json.gz", "a run with timeline=True"), "rt", encoding="utf-8") as file:
            return json.load(file)

    def components(self, kind: str) -> Table:
        """Counters of `links`, `switches`, `reduction_units`, `gpus`, `memory` or `host_copies`: one row per component
        and scenario. `units(kind)` gives the units."""
        self.units(kind)
        return self._of_scenarios(kind)

    def units(self, kind: str) -> Dict[str, str]:
        """Maps each column for components of this kind to its unit (`count`, `bytes`, `us`, `share`)."""
        for one in self.raw["statistics"]:
            if one["kind"] == kind:
                return {value["name"]: value["unit"] for value in one["values"]}
        raise KeyError(f"{kind}; the kinds are: {', '.join(one['kind'] for one in self.raw['statistics'])}")

    def table(self, name: str) -> Table:
        """NAME.csv in the run's folder: `kernels`, `passes`, `memory`, `learning`, `versions`, `changes`, `members`,
        `counters`. Empty where the run has none."""
        path = self.folder / f"{name}.csv"
        return read_csv(path) if path.is_file() else table([])

    def report(self, *, program: Optional[PathLike] = None) -> pathlib.Path:
        """Writes report.html, the page with the charts, into the folder of the results; returns its path."""
        call(["report", str(self.folder)], program=program)
        return self.folder / "report.html"

    def energy(self, power: Optional[PathLike] = None, *, program: Optional[PathLike] = None) -> Table:
        """Energy of a step, estimated from the power numbers in the file `power`, by default those that ship: one row per
        scenario with `step_us`, `gpu_watts` (mean of a GPU), `step_joules` and the parts `idle_joules` ...
        `network_joules`, each with its `_low` and `_high` end. docs/results.md#energy says what is counted."""
        arguments = ["energy", str(self.folder), "--json"] + ([] if power is None else ["--power", os.fspath(power)])
        told = json.loads(call(arguments, program=program).output)
        return table(_energy_row(scenario) for scenario in told["scenarios"])

    def _of_scenarios(self, key: str) -> Table:
        return table(_known([{"scenario": scenario["name"], **_plain(row), **_ends(row)}
                             for scenario in self.raw["scenarios"] for row in scenario.get(key) or []]))

    def __repr__(self) -> str:
        return f"<switchfold.Result {self.name}: {', '.join(s['name'] for s in self.raw['scenarios'])}>"

    def _repr_html_(self) -> str:
        rows = list(_short(self.raw["scenarios"]))
        head = "".join(f"<th>{name}</th>" for name in rows[0])
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row.values()) + "</tr>" for row in rows)
        return f"<table><caption>{html.escape(self.name)}</caption><tr>{head}</tr>{body}</table>"


def _known(rows: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Rows without the figures that none of them has: those of other kinds of runs."""
    known = {name for row in rows for name, value in row.items() if value is not None}
    return [{name: value for name, value in row.items() if name in known} for row in rows]


def _plain(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Keeps only the values that fit into a table cell."""
    return {name: value for name, value in row.items() if not isinstance(value, (dict, list))}


def _ends(row: Mapping[str, Any]) -> Dict[str, Any]:
    """The ends of a row's intervals, by the names that databases give them."""
    ends: Dict[str, Any] = {}
    for figure, interval in (row.get("intervals") or {}).items():
        ends[f"{figure}_at_least"] = interval["low"]
        ends[f"{figure}_at_most"] = interval["high"]
    return ends


def _interval_row(scenario: str, figure: str, value: Optional[float], interval: Mapping[str, Any]) -> Dict[str, Any]:
    return {"scenario": scenario, "figure": figure, "value": value, "at_least": interval["low"],
            "at_most": interval["high"], "measured": interval["measured"], "like": interval["like"]}


def _energy_row(scenario: Mapping[str, Any]) -> Dict[str, Any]:
    estimates = {name: scenario[name] for name in ("gpu_watts", "step_joules")}
    estimates.update({f"{part}_joules": estimate for part, estimate in scenario["parts_joules"].items()})
    row = {"scenario": scenario["name"], "step_us": scenario["step_us"], "gpus": scenario["gpus"]}
    for name, estimate in estimates.items():
        row.update({name: estimate["value"], f"{name}_low": estimate["low"], f"{name}_high": estimate["high"]})
    return row


def _flat(scenario: Mapping[str, Any]) -> Dict[str, Any]:
    """A scenario without the entries that have their own tables."""
    flat = {**_plain(scenario), **_ends(scenario)}
    for cause, share in (scenario.get("slowdown_by_cause") or {}).items():
        flat[f"cause_{cause}"] = share
    for phase, shares in (scenario.get("causes_by_phase") or {}).items():
        if phase != "backward":
            flat.update({f"{phase}_cause_{cause}": share for cause, share in (shares or {}).items()})
    for name, value in (scenario.get("with_ranks_together") or {}).items():
        flat[f"together_{name}"] = value
    if peak := scenario.get("peak_memory"):
        flat["peak_memory_bytes"] = sum(peak["bytes"].values())
        flat["peak_memory_rank"] = peak["rank"]
    return {name: value for name, value in flat.items() if name not in ("slowdown_by_cause", "causes_by_phase",
                                                                        "with_ranks_together", "peak_memory")}


def _short(scenarios: List[Mapping[str, Any]]) -> Iterator[Dict[str, str]]:
    """The first table that the program prints, in short: of the whole run where members come and go or a small network
    learns, otherwise of a step."""
    def number(value: Optional[float], form: str) -> str:
        return "" if value is None else format(value, form)

    def knows(figure: str) -> bool:
        return any(scenario.get(figure) is not None for scenario in scenarios)

    columns = [("iteration, us", "iteration_us", ".1f"), ("backward, us", "backward_us", ".1f"),
               ("exposed, us", "exposed_communication_us", ".1f"), ("slowdown", "backward_slowdown", ".1%"),
               ("speed-up", "speedup", ".2f")]
    if knows("run_us"):
        columns = [("time, us", "run_us", ".0f"), ("samples/s", "samples_per_s", ".1f"), ("training", "run_training", ".2%"),
                   ("paused, us", "run_paused_us", ".0f"), ("checkpoints, us", "run_checkpoints_us", ".0f"),
                   ("lost, us", "run_lost_us", ".0f"), ("members", "run_members", ".1f"),
                   ("GPU-s lost", "run_gpu_seconds_lost", ".1f")]
    elif knows("diverged_seeds"):
        columns = [("iteration, us", "iteration_us", ".1f"), ("samples/s", "samples_per_s", ".1f"),
                   ("speed-up", "speedup", ".2f"), ("final loss", "final_loss", ".4g"),
                   ("steps to target", "steps_to_target", ".1f"), ("time to target, us", "time_to_target_us", ".1f")]
    for scenario in scenarios:
        yield {"scenario": scenario["name"], **{title: number(scenario.get(key), form) for title, key, form in columns}}
