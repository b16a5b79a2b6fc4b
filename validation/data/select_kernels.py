#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects, from a larger table, the measured matrix products and attention kernels for the repository.

The rule uses no time, measured or simulated: it takes every tenth line of each GPU, by its place in the table (every
fifth for attention).

usage: select_kernels.py gemm.csv 10 > reference/gemm.csv
       select_kernels.py attention.csv 5 > reference/attention.csv
"""
import collections
import csv
import sys

SOURCE = "ai-dynamo/aiconfigurator@095f58a51 (Apache-2.0)"


def main():
    every = int(sys.argv[2])
    seen = collections.Counter()
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        out = csv.DictWriter(sys.stdout, [*reader.fieldnames, "source"], lineterminator="\n")
        out.writeheader()
        for row in reader:
            if seen[row["gpu"]] % every == 0:
                out.writerow({**row, "source": SOURCE})
            seen[row["gpu"]] += 1


if __name__ == "__main__":
    main()
