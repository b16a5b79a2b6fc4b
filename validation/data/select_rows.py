#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects the measured all-reduces that the repository holds out of a larger table of the same columns.

The rule looks at no simulated value: every table whose source is a public address; sizes of 1 KiB times a power of four
up to 1 GiB, the smallest size of a table that has none of these, and peaks without a size; of rows that differ in their
placement alone the first. Larger sizes take long to simulate and add little: the links limit them as they limit 1 GiB.

usage: select_rows.py TABLE.csv > reference/nccl_allreduce.csv
"""
import csv
import math
import sys

COLUMNS = ["id", "gpu", "n_gpus", "n_nodes", "interconnect", "algo", "nccl_version", "dtype", "size_bytes", "time_us",
           "busbw_GBps", "placement", "source"]


LARGEST = 1 << 30


def is_sampled(size):
    """Sizes that are printed as 132K or 536M count for the power next to them."""
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
        # The measured time says all; a bandwidth is kept where there is nothing else.
        if row["time_us"]:
            row["busbw_GBps"] = ""
        out.writerow({**row, "source": row["source_url"].split(" ")[0]})


if __name__ == "__main__":
    main()
