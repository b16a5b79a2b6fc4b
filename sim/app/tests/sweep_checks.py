# SPDX-License-Identifier: Apache-2.0
"""What the tests of sweeps share: a small sweep, and what its database holds."""
import sqlite3

# Tables that do not depend on the machine.
KEPT = ("meta", "axes", "axis_values", "points", "point_values", "runs", "scenarios")


def content(folder):
    with sqlite3.connect(folder / "sweep.db") as database:
        return {table: sorted(database.execute(f"SELECT * FROM {table}"), key=repr) for table in KEPT}


def small_sweep(source, axes, **workload):
    """One ring all-reduce on an HGX H100 at the points of `axes`."""
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
