#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured all-reduce tables against simulated ones, until `switchfold validate collectives` does it.

Reads a table in the form of nccl_allreduce.csv (id, size_bytes, time_us, busbw_GBps, n_gpus, ...), simulates each size
from 1 KiB to 512 MiB on the system named below, and prints measured and simulated microseconds and the mean absolute
error by size class. Out of place and in place count as one: the first row of a size is taken.

usage: compare_tables.py SWITCHFOLD TABLES.csv
"""
import collections
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

SYSTEMS = pathlib.Path(__file__).resolve().parent.parent / "configs/systems"
# Table: system, algorithm that ran there ("ring" where the source says there was no NVLS).
TABLES = {
    "h100_4g_snellius": ("hgx_h100", "ring"),
    "h100_4g_xxrjun": ("hgx_h100", "ring"),
    "azure_ND_H200_v5": ("hgx_h200", "auto"),
    "a100_8g_superbench": ("dgx_a100", "auto"),
    "vtrain_a100_2g": ("dgx_a100", "auto"),
    "vtrain_a100_8g": ("dgx_a100", "auto"),
    "v100_8g_dgx1like": ("dgx1_v100", "auto"),
}


def measured_us(row):
    if row["time_us"]:
        return float(row["time_us"])
    n, bandwidth = int(row["n_gpus"]), float(row["busbw_GBps"] or 0)
    return int(row["size_bytes"]) * 2 * (n - 1) / n / bandwidth / 1e3 if bandwidth else None


def simulate(binary, folder, system, ranks, algorithm, size):
    path = pathlib.Path(folder) / "e.json"
    path.write_text(json.dumps({
        "name": "compare", "system": str(SYSTEMS / f"{system}.json"),
        "workload": {"type": "collective", "size": f"{size} B", "ranks": ranks},
        "scenarios": [{"name": "a", "all_reduce": {"algorithm": algorithm}}]}))
    done = subprocess.run([binary, "run", path, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["scenarios"][0]["collectives"][0]


def main():
    rows = collections.defaultdict(dict)
    ranks = {}
    with open(sys.argv[2], encoding="utf-8") as file:
        for row in csv.DictReader(file):
            time = measured_us(row) if row["id"] in TABLES else None
            if time:
                rows[row["id"]].setdefault(int(row["size_bytes"]), time)
                ranks[row["id"]] = int(row["n_gpus"])
    with tempfile.TemporaryDirectory() as folder:
        for table, (system, algorithm) in TABLES.items():
            errors = {"below 1 MiB": [], "from 1 MiB": []}
            print(f"{table} on {system}, {ranks[table]} GPUs")
            for size, measured in sorted(rows[table].items()):
                if not 1024 <= size <= 1 << 29 or size % 16:
                    continue
                run = simulate(sys.argv[1], folder, system, ranks[table], algorithm, size)
                error = run["time_us"] / measured - 1
                errors["below 1 MiB" if size < 1 << 20 else "from 1 MiB"].append(abs(error))
                print(f"  {size:>11} B  measured {measured:9.1f} us  simulated {run['time_us']:9.1f} us  "
                      f"{100 * error:+6.1f} %  {run['algorithm']} {run['protocol']} {run['channels']}")
            for what, values in errors.items():
                if values:
                    print(f"  mean absolute error {what}: {100 * statistics.mean(values):.1f} % of {len(values)} sizes")


if __name__ == "__main__":
    main()
