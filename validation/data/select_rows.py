#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects, from a larger table with the same columns, the measured all-reduces for the repository.

The rule uses no simulated value. It takes every table whose source is a public address. Of each it takes the sizes of
1 KiB times a power of four up to 1 GiB, the smallest size if the table has none of these, and peaks without a size.
Of rows that differ only in placement it takes the first. Larger sizes take long to simulate and add little: the links
limit them as they limit 1 GiB.

usage: select_rows.py TABLE.csv > reference/nccl_allreduce.csv
"""
import csv
import math
import sys

COLUMNS = ["id", "gpu", "n_gpus", "n_nodes", "interconnect", "algo", "nccl_version", "dtype", "size_bytes", "time_us",
           "busbw_GBps", "placement", "source"]


LARGEST = 1 << 30


def is_sampled(size):
    """Whether the size is close to a sampled power; sizes printed as 132K or 536M count as the nearest one."""
    steps = math.log(size / 1024, 4)
    return steps > -0.1 and abs(steps - round(steps)) < 0.05 and size < 1.1 * LARGEST


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["source_url"].startswith("https://")]
    sizes = {}
    for row in rows:
        sizes.setdefault(row["id"], set()).add(int(row["size_bytes"] or 0))
    wanted = {table: {s for s in all_sizes if not s or is_sampled(s)} or {min(all_sizes)}
              for table, all_sizes in sizes.items()}
    out = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    seen = set()
    for row in rows:
        size = int(row["size_bytes"] or 0)
        key = (row["id"], row["algo"], size)
        if key in seen or size not in wanted[row["id"]]:
            continue
        seen.add(key)
        # The time determines the bandwidth, which is kept only where there is no time.
        if row["time_us"]:
            row["busbw_GBps"] = ""
        out.writerow({**row, "source": row["source_url"].split(" ")[0]})


if __name__ == "__main__":
    main()
