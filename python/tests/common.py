# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests: small experiments, and a table's rows with and without pandas."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import switchfold  # noqa: E402

HGX_H100 = switchfold.shipped("systems/hgx_h100.json")
EXAMPLE = switchfold.shipped("experiments/example.json")
TRACE = switchfold.shipped("examples/resnet50_ddp_synthetic.json.gz")


def collective(**changes):
    """An all-reduce of 1 MiB on 8 H100: simulated in milliseconds."""
    return {"name": "small", "system": HGX_H100, "workload": {"type": "collective", "size": "1 MiB", "ranks": 8}, **changes}


def rows(table):
    return table if isinstance(table, list) else table.to_dict("records")
