#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects, from a larger table with the same columns, the measured collectives on few SMs for the repository.

The rule uses no simulated value: it takes every row of the kind symmetric_memory, all of which are single numbers from
public threads.

usage: select_low_sm.py TABLE.csv > reference/low_sm.csv
"""
import csv
import sys

COLUMNS = ["id", "kind", "operation", "gpu", "n_gpus", "n_nodes", "interconnect", "kernel", "library", "blocks", "dtype",
           "size_bytes", "time_us", "source"]


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "symmetric_memory"]
    out = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


if __name__ == "__main__":
    main()
