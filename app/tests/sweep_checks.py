# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of sweeps: a small sweep, and the contents of its database."""
import sqlite3

# Tables that do not depend on the machine.
KEPT = ("meta", "axes", "axis_values", "points", "point_values", "runs", "scenarios")


def content(folder):
    with sqlite3.connect(folder / "sweep.db") as database:
        return {table: sorted(database.execute(f"SELECT * FROM {table}"), key=repr) for table in KEPT}


def small_sweep(source, axes, **workload):
    """A sweep of one ring all-reduce on an HGX H100 over `axes`."""
    return {
        "name": "small",
        "experiment": {
            "name": "one",
            "system": str(source / "configs/systems/hgx_h100.json"),
            "workload": {"type": "collective", "size": "1 KiB"} | workload,
            "scenarios": [{"name": "x", "all_reduce": {"algorithm": "ring"}}],
        },
        "axes": axes,
    }
