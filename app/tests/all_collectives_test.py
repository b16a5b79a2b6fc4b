#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of collective by every algorithm and kernel on every system of configs/systems, in three sizes: it ends
in time with right values, or is refused with a pointer.

usage: all_collectives_test.py SWITCHFOLD SOURCE_DIRECTORY [quick]

quick: of each system one combination in twenty, in fixed pseudo-random order.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all", "send_receive", "gather",
         "scatter")
CLASSIC = ("ring", "tree", "in_switch", "in_switch_tree", "in_switch_ring", "collnet", "owners", "topology_tree", "host")
WAYS = [("classic", a) for a in ("auto", *CLASSIC)] + [(k, a) for k in ("symmetric", "copy_engine")
                                                       for a in ("direct", "in_switch")]
SIZES = ("8 B", "100000 B", "12 MiB")  # the second is no multiple of most numbers of ranks
CARRIED = 100_000  # functional runs carry numbers up to this size
MOST_GPUS = 128  # without the systems of hundreds of machines, on which one run takes minutes
QUICK = 20
LIMIT = 60  # seconds


def experiments(systems, quick):
    rng = random.Random(1)
    for system in systems:
        found = [(system, kind, kernels, algorithm, size)
                 for kind in KINDS for kernels, algorithm in WAYS for size in SIZES]
        yield from (rng.sample(found, len(found) // QUICK) if quick else found)


def run(program, system, kind, kernels, algorithm, size):
    """Exit status, and what it said last."""
    number, unit = size.split()
    policy = {"kernels": kernels, "algorithm": algorithm}
    experiment = {
        "name": "one", "system": str(system), "functional": unit == "B" and int(number) <= CARRIED,
        "workload": {"type": "collective", "collective": kind, "size": size},
        "scenarios": [{"name": "s", "collectives": {kind: policy}}], "limits": {"real_time": f"{LIMIT} s"},
    }
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([program, "run", "-", "--out", f"{folder}/out"], input=json.dumps(experiment),
                                  capture_output=True, text=True, timeout=2 * LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return None, ""
    return done.returncode, done.stderr.strip()[-300:]


def gpus(program, system):
    if "devices" in json.loads(system.read_text()):
        return 0
    drawn = subprocess.run([program, "describe", "--dot", system], capture_output=True, text=True, check=True).stdout
    return len(re.findall(r'^ *"gpu\d+" \[', drawn, re.M))


def main():
    quick = sys.argv[3:] == ["quick"]
    program, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    systems = [s for s in sorted((source / "configs/systems").glob("*.json"))
               if 0 < gpus(program, s) <= MOST_GPUS]
    ended, wrong = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for what, (status, said) in pool.map(lambda e: (e, run(program, *e)), experiments(systems, quick)):
            ended[status] += 1
            if status != 0 and (status != 2 or "/scenarios/0/" not in said):
                wrong += 1
                print(what[0].stem, *what[1:], "->", status, said)
    print(f"{len(systems)} systems:", ", ".join(f"{n} ended with {status}" for status, n in ended.items()))
    return 1 if wrong or ended[0] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
