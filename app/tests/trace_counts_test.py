#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `trace inspect` with counts by Python's own JSON reader, over traces of real runs. The
traces are not part of the repository; without them the test is skipped (exit code 77).

usage: trace_counts_test.py SWITCHFOLD TRACES_DIRECTORY
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys

LEFT_OUT = "GPU operations launched before the trace began"
COPIES = ("gpu_memcpy", "gpu_memset", "memcpy", "memset")


def count(path):
    """Counts kernels, collectives, copies and streams of a Kineto trace; None if the file is not one."""
    trace = json.loads(gzip.decompress(path.read_bytes()))
    if "traceEvents" not in trace:
        return None
    counts = collections.Counter()
    streams = set()
    for event in trace["traceEvents"]:
        category = event.get("cat", "").lower()
        if event.get("ph") != "X" or category not in ("kernel", *COPIES):
            continue
        streams.add(event["args"]["stream"])
        if category in COPIES:
            counts["copies"] += 1
        else:
            counts["collectives" if "nccl" in event["name"].lower() else "kernels"] += 1
    counts["streams"] = len(streams)
    counts["events"] = len(trace["traceEvents"])
    return counts


def inspected(program, path):
    done = subprocess.run(
        [program, "trace", "inspect", "--json", path], capture_output=True, check=True, timeout=200
    )
    return json.loads(done.stdout)["ranks"][0]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    traces = sorted(folder.glob("*/*.json.gz"))
    if not traces:
        print(f"{folder} holds no traces: nothing to compare with")
        return 77
    problems = []
    compared = 0
    for path in traces:
        expected = count(path)
        if expected is None:
            continue
        compared += 1
        found = inspected(program, path)
        left_out = found["dropped"].get(LEFT_OUT, 0)
        gpu = ("kernels", "collectives", "copies")
        if sum(found[k] for k in gpu) + left_out != sum(expected[k] for k in gpu):
            problems.append(f"{path}: GPU operations: {found} instead of {expected}")
        for key in (*gpu, "streams", "events") if left_out == 0 else ("events",):
            if found[key] != expected[key]:
                problems.append(f"{path}: {key}: {found[key]} instead of {expected[key]}")
    print("\n".join(problems) or f"{compared} traces: all counts agree")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
