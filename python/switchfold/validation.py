# SPDX-License-Identifier: Apache-2.0
"""Compares the simulator with measurements of real machines."""
from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Dict, Optional

from .program import PathLike, call
from .progress import ProgressOption
from .tables import Table, table


class Validation:
    """How close the simulator is to measured machines (docs/validation.md). Errors are relative: 0.05 is 5 %."""

    def __init__(self, raw: Dict[str, Any], passed: bool) -> None:
        self.raw = raw
        """The program's unchanged answer."""
        self.passed = passed
        """Whether all suites are within their tolerance."""

    @cached_property
    def suites(self) -> Table:
        """One row per suite: `mape` (mean absolute error), `cases`, `unmatched`."""
        return table({"suite": suite["name"], "mape": suite["mape"], "cases": len(suite["cases"]),
                      "unmatched": len(suite["unmatched"])} for suite in self.raw["suites"])

    @cached_property
    def groups(self) -> Table:
        """One row per table of measurements: `mape`, `cases`."""
        return table({"suite": suite["name"], **group} for suite in self.raw["suites"] for group in suite["groups"])

    @cached_property
    def cases(self) -> Table:
        """One row per measured value: `quantity`, `unit`, `measured`, `low`, `high`, `simulated`, `error`."""
        return table({"suite": suite["name"], **case} for suite in self.raw["suites"] for case in suite["cases"])


def validate(
    *suites: str,
    data: Optional[PathLike] = None,
    system: Optional[PathLike] = None,
    jobs: Optional[int] = None,
    progress: ProgressOption = None,
    program: Optional[PathLike] = None,
) -> Validation:
    """Compares the simulator with measurements; without a suite name, runs all suites.

    data: a folder of measurements, or the file that a single suite reads.
    system: for the suite `collectives`, the measured machine.
    """
    arguments = ["validate", "--json", *suites]
    for name, path in (("--data", data), ("--system", system)):
        if path is not None:
            arguments += [name, os.fspath(path)]
    if jobs is not None:
        arguments += ["--jobs", str(jobs)]
    ended = call(arguments, program=program, progress=progress, good=(0, 1))
    return Validation(json.loads(ended.output), ended.code == 0)
