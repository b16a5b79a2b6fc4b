#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects, from a larger table, the measured matrix products and attention kernels for the repository.

The rule uses no time, measured or simulated: it takes every tenth line of each GPU, by its place in the table (every
fifth for attention); or all lines whose size was measured on several GPUs.

usage: select_kernels.py gemm.csv 10 > reference/gemm.csv
       select_kernels.py attention.csv 5 > reference/attention.csv
       select_kernels.py gemm.csv same > reference/gemm_on_gpus.csv
       select_kernels.py attention.csv same > reference/attention_on_gpus.csv
"""
import collections
import csv
import sys

SOURCE = "ai-dynamo/aiconfigurator@095f58a51 (Apache-2.0)"


def size(row):
    return tuple(value for name, value in row.items() if name not in ("gpu", "time_us"))


def main():
    rule = sys.argv[2]
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns = [*reader.fieldnames, "source"]
        rows = list(reader)
    gpus = collections.defaultdict(set)
    for row in rows:
        gpus[size(row)].add(row["gpu"])
    seen = collections.Counter()
    out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    out.writeheader()
    for row in rows:
        taken = len(gpus[size(row)]) > 1 if rule == "same" else seen[row["gpu"]] % int(rule) == 0
        if taken:
            out.writerow({**row, "source": SOURCE})
        seen[row["gpu"]] += 1


if __name__ == "__main__":
    main()
