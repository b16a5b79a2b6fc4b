# SPDX-License-Identifier: Apache-2.0
"""switchfold: simulates training on several GPUs whose collectives may be reduced inside the switch.

A pure Python wrapper around the program `switchfold` and its files. Tables are pandas DataFrames where pandas is
installed, otherwise lists of dicts.

>>> import switchfold
>>> result = switchfold.run(switchfold.shipped("experiments/example.json"))
>>> result.scenarios[["name", "iteration_us", "backward_slowdown"]]
"""
from .errors import InputError, InternalError, Problem, ProgramNotFound, SimulationError, SwitchfoldError
from .machines import describe, program_version, schema, shipped
from .planning import MemoryPlans, PlanResult, plan, plan_memory
from .program import find_program
from .progress import Progress
from .result import Result
from .running import load, run
from .sweeping import SweepResult, load_sweep, sweep
from .traces import TraceCheck, TraceInspection, check, inspect
from .validation import Validation, validate
from .version import __version__

__all__ = [
    "InputError", "InternalError", "MemoryPlans", "PlanResult", "Problem", "ProgramNotFound", "Progress", "Result",
    "SimulationError", "SweepResult", "SwitchfoldError", "TraceCheck", "TraceInspection", "Validation", "__version__",
    "check", "describe", "find_program", "inspect", "load", "load_sweep", "plan", "plan_memory", "program_version", "run",
    "schema", "shipped", "sweep", "validate",
]
