#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trace engine of Chrome's DevTools (npm) reads the timelines of every kind of experiment: it finds every slice, each
track's slices one after the other, and where a host launches, the launches inside their step.

Exits with 77 (skipped) without npm or its registry. The engine is fetched once into WORK_FOLDER.

usage: trace_parser_test.py SWITCHFOLD SOURCE_DIRECTORY WORK_FOLDER
"""
import collections
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
HERE = pathlib.Path(__file__).resolve().parent / "trace_parser"
SKIPPED = 77
PATIENCE = ["--fetch-retry-mintimeout=2000", "--fetch-retry-maxtimeout=5000"]
GPT = {"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 2048}
PIPELINE = {"data": 2, "pipeline": 2, "micro_batch": 1, "accumulate": 4}


def install():
    """The folder with the engine; None, and why, where it cannot be had."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return None, "npm or node is not installed"
    lock = (HERE / "package-lock.json").read_text(encoding="utf-8")
    kept = WORK / "installed-package-lock.json"
    if not kept.is_file() or kept.read_text(encoding="utf-8") != lock:
        WORK.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, WORK / name)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", *PATIENCE], cwd=WORK,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, "npm's registry gave no trace engine: " + (done.stderr.strip().splitlines() or ["no word"])[-1]
        kept.write_text(lock, encoding="utf-8")
    return WORK / "node_modules", ""


def switchfold(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr


def training(**plan):
    return {"type": "training", "gradient": "bfloat16", "network": GPT, "plan": plan}


def experiments(folder):
    """Pairs of a name and a file, one for each kind of experiment."""
    configs = SOURCE / "configs/experiments"
    hgx = str(SOURCE / "configs/systems/hgx_h100.json")

    def own(name, **content):
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"name": name, "system": hgx, "causes": False, **content}), encoding="utf-8")
        return name, path

    yield "traced", configs / "example.json"
    yield "coprocessor", configs / "autoencoder_on_phi.json"
    yield "offloaded", configs / "host_copies.json"
    yield "changes", configs / "join_or_restart.json"
    yield own("collective", workload={"type": "collective", "size": "16 MiB"})
    yield own("plans", workload=training(**PIPELINE), scenarios=[
        {"name": name, "set": {"/workload/plan/schedule": name}} for name in ("1f1b", "gpipe", "zb_h1")])
    yield own("launches", workload=training(**PIPELINE, launches={"kernel": "5 us"}), scenarios=[{"name": "launched"}])
    yield own("several", scenarios=[{"name": "both"}], workloads=[
        {"name": "x", "on": "0-3", "workload": training(**PIPELINE)},
        {"name": "y", "on": "4-7", "workload": {"type": "collective", "size": "64 MiB"}}])


def written(content):
    """Slices by process and thread, and the tracks' names, as the file has them."""
    slices, names = collections.Counter(), {}
    for event in content["traceEvents"]:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]] += 1
        elif event["ph"] == "M" and event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
    return slices, names


def check(read):
    with gzip.open(read["file"]) as file:
        slices, names = written(json.load(file))
    found = {(t["pid"], t["tid"]): t for t in read["threads"]}
    assert read["generic"], "it is taken for a trace of a browser"
    assert collections.Counter({k: t["slices"] for k, t in found.items()}) == slices, read["file"]
    for key, thread in found.items():
        if key in names:
            assert thread["name"] == names[key], (thread["name"], names[key])
        # Launches lie within the step that they belong to; nothing else lies within anything.
        host = "rank-timelines" in read["file"] and thread["depth"] == 2 and thread["pid"] >= 1_000_000
        assert thread["depth"] == 1 or host, (read["file"], thread)
    return sum(slices.values())


def main():
    modules, why = install()
    if modules is None:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as holder:
        folder = pathlib.Path(holder)
        files = []
        for name, path in experiments(folder):
            out = folder / name
            ranks = [] if name in ("coprocessor", "several") else ["--rank-timelines"]  # which are refused there
            plain = [] if name in ("coprocessor", "changes") else ["--set", "/causes=false"]
            switchfold("run", path, "--out", out, "--timeline", *ranks, *plain)
            found = [out / "timeline.json.gz", *sorted(out.glob("rank-timelines/*/rank0.json.gz"))]
            assert len(found) > 1 or not ranks, name
            files += found
        done = subprocess.run(["node", HERE / "parse_timelines.mjs", modules, *files], capture_output=True, text=True,
                              timeout=250, check=False)
        assert done.returncode == 0, done.stderr
        read = [json.loads(line) for line in done.stdout.splitlines()]
        assert [r["file"] for r in read] == [str(f) for f in files]
        for one in read:
            print(f"{check(one):8} slices  {pathlib.Path(one['file']).relative_to(folder)}")


if __name__ == "__main__":
    main()
