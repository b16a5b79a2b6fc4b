# SPDX-License-Identifier: Apache-2.0
"""The program of test_sweep_and_plan's MPI tests: mpiexec -n 3 python3 -m mpi4py.futures sweep_on_mpi.py."""
import os
import pathlib
import signal
import time

from mpi4py.futures import MPIPoolExecutor
from test_sweep_and_plan import SIZES

import switchfold
from switchfold import executing

FOLDER, HOW = pathlib.Path(os.environ["SWEEP_FOLDER"]), os.environ["SWEEP_HOW"]  # workers have other arguments
run_share = executing.run_share


def dies_later(share):
    """The second task of a worker ends it, once the first is in the database."""
    started = FOLDER / f"started-{os.getpid()}"
    if started.exists():
        while len(executing.missing(FOLDER / "sweep.db")) == 6:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
    started.touch()
    return run_share(share)


def never(share):
    raise AssertionError("what is done runs again")


if HOW != "run":
    executing.run_share = {"killed": dies_later, "again": never}[HOW]

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        assert executing.workers_of(pool) == 2
        switchfold.sweep(SIZES, out=FOLDER, executor=pool, tasks=6)
