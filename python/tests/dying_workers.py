# SPDX-License-Identifier: Apache-2.0
"""A sweep on a pool of processes whose workers die as one does that is killed while it writes: a message that does not fit
the pipe is written by half, and the rest never comes. Run by test_sweep_and_plan.py, which ends it where it hangs."""
import concurrent.futures
import multiprocessing.connection
import os
import select
import signal
import sys

from common import collective

import switchfold


def die_within_a_message():
    def half(connection, message, write=None):
        if len(message) > select.PIPE_BUF:
            os.write(connection.fileno(), bytes(message)[: len(message) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(connection.fileno(), message)

    multiprocessing.connection.Connection._send = half


if __name__ == "__main__":
    # So many points that neither a task's digests nor the database that comes back fit.
    points = {"name": "seeds", "experiment": collective(scenarios=[{"name": "x"}]),
              "axes": [{"name": "seed", "pointer": "/seed", "values": list(range(1, 601))}]}
    with concurrent.futures.ProcessPoolExecutor(2, initializer=die_within_a_message) as pool:
        switchfold.sweep(points, out=sys.argv[1], executor=pool, tasks=2)
