#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/plot draws a sweep's figures; exits with 77 (skipped) without matplotlib and pandas.

usage: plot_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from sweep_checks import small_sweep

PROGRAM, SOURCE = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
PLOT = SOURCE / "scripts/plot"


def plot(*arguments):
    return subprocess.run([PLOT, *arguments], capture_output=True, text=True, check=False)


def main():
    nothing = plot("nowhere", "out")
    if "python3-pandas" in nothing.stderr:
        print("skipped: " + nothing.stderr)
        return 77
    assert nothing.returncode == 1 and "nowhere/sweep.db: does not exist" in nothing.stderr, nothing.stderr
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sweep = folder / "sweep.json"
        sweep.write_text(json.dumps(small_sweep(SOURCE, [
            {"name": "algorithm", "pointer": "/scenarios/0/all_reduce/algorithm", "values": ["ring", "in_switch"]},
            {"name": "size", "pointer": "/workload/size", "range": "64 KiB..64 MiB x8"},
        ], ranks=8)))
        subprocess.run([PROGRAM, "sweep", sweep, "--out", folder / "out"], check=True, capture_output=True)
        table = folder / "measured.csv"
        table.write_text("gpu,n_gpus,size_bytes,time_us\nx,8,1048576,60\ny,8,1048576,90\n")
        made = plot(folder / "out", folder / "pdf", "--data", table, "--where", "gpu=x")
        assert made.returncode == 0, made.stderr
        names = ["bus_bandwidth_gbps.pdf", "map_bus_bandwidth_gbps.pdf", "map_time_us.pdf", "time_us.pdf"]
        assert sorted(p.name for p in (folder / "pdf").iterdir()) == names, made.stdout
        for file in names:
            content = (folder / "pdf" / file).read_bytes()
            assert content.startswith(b"%PDF") and len(content) > 5000, file
        refused = plot(folder / "out", folder / "pdf", "--data", table, "--where", "gqu=x")
        assert refused.returncode == 1 and "has no column gqu" in refused.stderr, refused.stderr
        pictures = plot(folder / "out", folder / "png", "--format", "png")
        assert pictures.returncode == 0, pictures.stderr
        assert (folder / "png/time_us.png").read_bytes().startswith(b"\x89PNG")
    return 0


if __name__ == "__main__":
    sys.exit(main())
