#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects, from a larger table, the measured dispatches and combines of mixture-of-experts layers for the repository.

The rule uses no simulated value. From DeepEP it takes the shapes 4096/2/8, 6144/8/160 and 7168/8/256 (hidden, top-k,
experts) on one machine; from TensorRT-LLM's two-sided exchange all dispatches, and the combines of bfloat16 dispatches.
It takes 1 and 128 tokens, and 4,096 and 16,384 (low latency: 1,024) of large exchanges.

usage: select_experts.py TABLE.csv > reference/expert_exchanges.csv
"""
import csv
import sys

COLUMNS = ["id", "kind", "operation", "gpu", "n_gpus", "n_nodes", "interconnect", "kernel", "library", "blocks", "dtype",
           "num_tokens", "hidden", "topk", "num_experts", "time_us", "source"]
SHAPES = {("4096", "2", "8"), ("6144", "8", "160"), ("7168", "8", "256")}
TOKENS = {"moe_deepep_normal": {"1", "128", "4096", "16384"}, "moe_deepep_low_latency": {"1", "128", "1024"},
          "moe_trtllm_alltoall": {"1", "128", "4096"}}


def is_wanted(row):
    if row["num_tokens"] not in TOKENS.get(row["kind"], ()):
        return False
    if row["kind"] == "moe_trtllm_alltoall":
        combine = row["operation"] == "moe_combine" and "_bfloat16_" in row["id"]
        return row["kernel"] == "NVLinkTwoSided" and (row["operation"] == "moe_dispatch" or combine)
    return "rdma" not in row["id"] and (row["hidden"], row["topk"], row["num_experts"]) in SHAPES


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if is_wanted(row)]
    out = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


if __name__ == "__main__":
    main()
