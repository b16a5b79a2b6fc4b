#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of a run and of sweeps in a headless Chromium.

Exits with 77 (skipped) if Chromium, node or the npm libraries are missing.

usage: report_test.py SWITCHFOLD SOURCE_DIRECTORY NODE_MODULES
"""
import base64
import csv
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from made_up_residuals import root_with_residuals

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/pictures"))
import draw_waterfall  # noqa: E402

PROGRAM, SOURCE, MODULES = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
SKIPPED = 77
MOST_BYTES = 2_000_000


def sweep(folder, name, root=None, **changes):
    path = folder / f"{name}.json"
    content = {
        "name": name,
        "experiment": {
            "name": "one",
            "system": str(SOURCE / "configs/systems/hgx_h100.json"),
            "workload": {"type": "collective", "size": "1 KiB", "ranks": 8},
            "scenarios": [{"name": "x", "all_reduce": {"algorithm": "ring"}}],
        },
        **changes,
    }
    path.write_text(json.dumps(content))
    done = subprocess.run([PROGRAM, "sweep", path, "--out", folder / name], check=True, capture_output=True, cwd=root)
    assert b" 0 failed" in done.stdout, done.stdout
    return folder / name


def measured(folder):
    """A table in the form in which users publish nccl-tests results, with made-up numbers."""
    path = folder / "measured.csv"
    rows = ["id,gpu,n_gpus,n_nodes,interconnect,algo,nccl_version,dtype,size_bytes,time_us,algbw_GBps,busbw_GBps,placement"]
    for power in range(10, 27, 2):
        rows.append(f"made_up,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,Ring,2.20,float,{2**power},{20 + 2**power / 2.5e5},,,out-of-place")
    path.write_text("\n".join(rows) + "\n")
    return path


def check_intervals(run):
    """The page's scenarios have the intervals that result.json has."""
    scenarios = json.loads((run / "result.json").read_text(encoding="utf-8"))["scenarios"]
    for drawn, scenario in zip(data_of(run)["result"]["scenarios"], scenarios):
        assert drawn["intervals"] == scenario["intervals"]
        assert scenario["intervals"]["iteration_us"]["high"] > scenario["iteration_us"], scenario["intervals"]


def pipelines(folder):
    """Replicas of a pipeline, a pipeline that is never drained, and data parallelism, which has no pipeline."""
    path = folder / "plans.json"
    plan = {"data": 2, "pipeline": 2, "micro_batch": 2, "accumulate": 4, "schedule": "zb_h1"}
    endless = {"pipeline": 2, "micro_batch": 2, "schedule": "two_batches", "mini_batches": 80}
    network = {"blocks": 4, "hidden": 256, "sequence": 128, "vocabulary": 1000}
    path.write_text(json.dumps({
        "name": "plans",
        "system": str(SOURCE / "configs/systems/a100_4gpu.json"),
        "workload": {"type": "training", "transformer": network, "plan": {"data": 2, "micro_batch": 2}},
        "causes": False,
        "scenarios": [
            {"name": "data parallel"},
            {"name": "flushed", "set": {"/workload/plan": plan}},
            {"name": "endless", "set": {"/workload/plan": endless}},
        ],
    }))
    return path


def runs_over_many_steps(folder):
    """A run in which members join, replicas that average, members of a small network, an exchange of tokens."""
    system = str(SOURCE / "configs/systems/hgx_h100.json")
    network = {"blocks": 2, "hidden": 256, "sequence": 128, "vocabulary": 1000}

    def training(plan, **more):
        return {"system": system, "workload": {"type": "training", "transformer": network, "plan": plan}, "causes": False, **more}
    small = {"network": {"depth": 4, "width": 8}, "data": {"samples": 64, "held_out": 16}, "steps": 32, "evaluate_every": 8,
             "seeds": 2}
    apart = {"data": 2, "micro_batch": 2, "overlap_gradients": False}
    experiments = {
        "joins": training({"data": 2, "micro_batch": 2}, run={
            "costs": str(SOURCE / "configs/costs/default.json"), "time": "60 s", "changes": [{"at": "20 s", "add": 2}]},
            scenarios=[{"name": way, "set": {"/run/method": way}} for way in ("restart", "reconnect", "join")]),
        "averages": training(apart, learning={"averaging": {"type": "periodic", "every": 1}, **small},
                             scenarios=[{"name": f"every {n}", "set": {"/learning/averaging/every": n}} for n in (1, 8)]),
        "tokens": {"system": system, "workload": {"type": "experts", "tokens": 256, "hidden": 1024, "top_k": 4, "experts": 16}, "scenarios": [
            {"name": f"{sms} SMs", "collectives": {"experts": {"library": "deepep_normal", "sms": sms}}} for sms in (8, 20)]},
    }
    folders = []
    for name, experiment in experiments.items():
        (folder / f"{name}.json").write_text(json.dumps({"name": name, **experiment}))
        done = subprocess.run([PROGRAM, "run", folder / f"{name}.json", "--out", folder / name], check=False,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        folders.append(folder / name)
    return folders


def check_first_tables(folders):
    """The page's first table has the figures that result.json has, and lines that differ."""
    for run in folders[:2]:
        data = data_of(run)
        scenarios = json.loads((run / "result.json").read_text(encoding="utf-8"))["scenarios"]
        lines = [[s[f["key"]] for f in data["run_figures"]] for s in scenarios]
        assert len(lines[0]) > 3, data["run_figures"]
        assert len({json.dumps(line) for line in lines}) == len(lines), lines


def data_of(run):
    """The data that the page of a run draws."""
    page = (run / "report.html").read_text(encoding="utf-8")
    start = page.index('<script id="data" type="application/json">') + len('<script id="data" type="application/json">')
    return json.loads(page[start:page.index("</script>", start)])


def shared_machine(folder):
    """Two workloads on one machine."""
    path = folder / "shared.json"
    network = {"blocks": 2, "hidden": 256, "sequence": 128, "vocabulary": 1000}
    path.write_text(json.dumps({
        "name": "shared", "system": str(SOURCE / "configs/systems/hgx_h100.json"), "causes": False,
        "workloads": [
            {"name": name, "on": gpus, "workload": {"type": "training", "transformer": network, "plan": {"data": 4, "micro_batch": 2}}}
            for name, gpus in (("one", "0-3"), ("two", "4-7"))],
    }))
    done = subprocess.run([PROGRAM, "run", path, "--out", folder / "shared"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "shared"


def explorer_of(run):
    return json.loads(gzip.decompress(base64.b64decode(data_of(run)["explorer"])))


def check_explorer(run):
    """Timelines and map hold what the tables hold, and a link's load over time is its load in the result."""
    explorer = explorer_of(run)
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    timelines, columns = explorer["timelines"], explorer["timelines"]["columns"]
    tables = {}
    for name in ("kernels.csv", "communication.csv", "causes.csv"):
        with open(run / name, encoding="utf-8", newline="") as file:
            tables[name] = list(csv.DictReader(file))
    lanes = [(s["name"], r["rank"], lane) for s in timelines["scenarios"] for r in s["ranks"] for lane in r["lanes"]]
    for holds, table in (("kernels", "kernels.csv"), ("communication", "communication.csv")):
        drawn = sum(len(columns[lane["names"]]) for _, _, lane in lanes if lane["holds"] == holds)
        assert drawn == len(tables[table]) > 0, (holds, drawn)
    caused = sum(len(columns[lane["caused"]]) for _, _, lane in lanes if lane["holds"] == "kernels")
    assert caused == len(tables["causes.csv"]) > 0, caused
    scenario, rank, lane = next(x for x in lanes if x[0] == "ring" and x[1] == 3 and x[2]["holds"] == "kernels")
    first = next(x[2] for x in lanes if x[0] == "ring" and x[1] == 0 and x[2]["holds"] == "kernels")
    assert lane["like_first"] and not first["like_first"]
    gaps, durations = ([own + base for own, base in zip(columns[lane[key]], columns[first[key]])] for key in ("gaps", "durations"))
    end = 0
    for row, name, gap, duration in zip(
            (k for k in tables["kernels.csv"] if (k["scenario"], k["rank"], k["stream"]) == (scenario, "3", lane["stream"])),
            columns[lane["names"]], gaps, durations):
        assert timelines["names"][name][0] == row["name"]
        assert abs((end + gap) / 1e3 - float(row["start_us"])) < 2e-3, row
        end += gap + duration
    links = explorer["map"]["machines"][0]["links"]
    for loads, scenario in zip(explorer["map"]["scenarios"], result["scenarios"]):
        assert loads["scenario"] == scenario["name"]
        used = {link["name"]: link["utilization"] for link in scenario["links"]}
        assert {links[int(i)]["name"] for i in loads["load"]} == {name for name, use in used.items() if use > 0}
        for i, bins in loads["load"].items():
            assert max(bins) <= 1000, bins
            mean = sum(bins) / 1000 * loads["bin_us"] / loads["end_us"]
            assert abs(mean - used[links[int(i)]["name"]]) < 0.01 * mean + 1e-3, (links[int(i)]["name"], mean)


def check_schedules(run):
    schedules = data_of(run)["schedules"]
    charts = {chart["scenario"]: chart for chart in schedules["charts"]}
    assert list(charts) == ["flushed", "endless", "data parallel"], list(charts)  # pipelines first
    flushed, endless = charts["flushed"], charts["endless"]
    # One replica per stage: four micro-batches of three passes each, and an update, make 13 bars.
    assert (flushed["ranks"], flushed["alike"], flushed["cut"]) == ([0, 2], 2, False), flushed["ranks"]
    assert [sum(b["rank"] == r for b in flushed["bars"]) for r in (0, 2)] == [13, 13]
    assert {b["kind"] for b in flushed["bars"]} == {"F", "B", "W", "U"}
    assert endless["cut"] and max(sum(b["rank"] == r for b in endless["bars"]) for r in (0, 1)) == 200
    assert any(b["beside"] for b in endless["bars"])


def check_memory(run):
    """The chart, result.json and memory.csv agree on the moment of the highest memory use."""
    charts = {chart["scenario"]: chart for chart in data_of(run)["memory"]}
    with open(run / "memory.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes = list(rows[0])[3:]
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert list(charts) == [s["name"] for s in result["scenarios"]], list(charts)
    for scenario in result["scenarios"]:
        peak = scenario["peak_memory"]
        assert list(peak["bytes"]) == classes, classes
        most = sum(peak["bytes"].values())
        own = [r for r in rows if r["scenario"] == scenario["name"]]
        fullest = max(own, key=lambda r: sum(int(r[c]) for c in classes))
        assert abs(sum(int(fullest[c]) for c in classes) - most) < 16
        assert (int(fullest["rank"]), float(fullest["time_us"])) == (peak["rank"], peak["time_us"]), peak
        assert all(re.fullmatch(r"(F|BW|B|W)\d+@\d+", p) for p in peak["pass"].split(", ")), peak["pass"]
        chart = charts[scenario["name"]]
        drawn = [sum(values) for values in zip(*(c["bytes"] for c in chart["classes"]))]
        assert abs(max(drawn) - most) < 16
        assert chart["time_us"][drawn.index(max(drawn))] == peak["time_us"]
        # At the end, everything that the step allocated is freed.
        assert drawn[-1] == sum(peak["bytes"][c] for c in ("weights", "moments", "gradients"))


def check_pass_that_is_none(run):
    page = (run / "report.html").read_bytes()
    passes = run / "passes.csv"
    whole = passes.read_text(encoding="utf-8")
    passes.write_text(whole.replace(",F1@0,", ",X1@0,"), encoding="utf-8")
    done = subprocess.run([PROGRAM, "report", run], check=False, capture_output=True, text=True)
    assert done.returncode == 2, done.returncode
    assert '"X1@0" is not a pass; expected one such as F3@1' in done.stderr and "passes.csv: line " in done.stderr, done.stderr
    passes.write_text(whole, encoding="utf-8")
    assert (run / "report.html").read_bytes() == page


def main():
    chromium = shutil.which("chromium")
    lacking = [
        name
        for name, there in (
            ("chromium", chromium),
            ("node", shutil.which("node")),
            ("playwright-core of npm", (MODULES / "playwright-core").is_dir()),
        )
        if not there
    ]
    if lacking:
        print(f"skipped: without {', '.join(lacking)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        size = {"name": "size", "pointer": "/workload/size", "range": "1 KiB..64 MiB x4"}
        algorithm = {
            "name": "algorithm", "pointer": "/scenarios/0/all_reduce/algorithm", "values": ["auto", "ring", "in_switch"],
        }
        root = root_with_residuals(folder, SOURCE)
        sizes = sweep(folder, "sizes", root, axes=[algorithm, size])
        entries = {"name": "entries", "pointer": "/system/topology/switch/reduction/entries", "values": [4, 64]}
        three = sweep(folder, "three", axes=[entries, algorithm, {**size, "range": "1 KiB..1 MiB x32"}])
        # Gains over a decade; axes without numbers; a single point.
        programs = [str(SOURCE / f"configs/programs/{way}_all_reduce.json") for way in ("all_pairs", "ring", "in_switch_ring")]
        far = sweep(folder, "far", axes=[
            {**size, "range": "64 KiB..16 MiB x16"},
            {"name": "program", "pointer": "/scenarios/0/all_reduce/algorithm/program", "values": programs},
        ], experiment={
            "name": "one", "system": str(SOURCE / "configs/systems/hgx_h100.json"),
            "workload": {"type": "collective", "size": "1 KiB", "ranks": 8},
            "scenarios": [{"name": "x", "all_reduce": {"algorithm": {"program": programs[0]}}}]})
        names = sweep(folder, "names", root, axes=[algorithm])
        point = sweep(folder, "point", axes=[{"name": "size", "pointer": "/workload/size", "values": ["1 MiB"]}])
        run = folder / "run"
        subprocess.run(
            [PROGRAM, "run", SOURCE / "configs/experiments/example.json", "--out", run],
            check=True, capture_output=True, cwd=root,
        )
        plans = folder / "plans"
        subprocess.run([PROGRAM, "run", pipelines(folder), "--out", plans], check=True, capture_output=True)
        regions = folder / "regions"
        subprocess.run([PROGRAM, "run", SOURCE / "configs/experiments/autoencoder_on_phi.json", "--out", regions],
                       check=True, capture_output=True)
        shared = shared_machine(folder)
        subprocess.run([PROGRAM, "report", three, far, names, point, run, plans, regions, shared], check=True, capture_output=True)
        many = runs_over_many_steps(folder)
        subprocess.run([PROGRAM, "report", *many], check=True, capture_output=True)
        check_first_tables(many)
        check_intervals(run)
        check_explorer(run)
        scenarios = json.loads((run / "result.json").read_text(encoding="utf-8"))["scenarios"]
        (run / "waterfall.json").write_text(json.dumps(draw_waterfall.steps(scenarios)))
        check_schedules(plans)
        check_memory(plans)
        check_pass_that_is_none(plans)
        subprocess.run([PROGRAM, "report", sizes, "--data", measured(folder)], check=True, capture_output=True)
        page = (sizes / "report.html").read_text(encoding="utf-8")
        assert '"table":"made_up"' in page, "the measured points are not in the page"
        for page in (sizes, three, far, names, point, run, plans, regions, shared, *many):
            assert (page / "report.html").stat().st_size < MOST_BYTES, f"{page.name}: the page is too large"
        shots = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else folder
        return subprocess.run(
            ["node", pathlib.Path(__file__).with_name("report_browser_test.mjs"), MODULES, chromium, shots,
             *(f / "report.html" for f in (sizes, three, far, names, point, run, plans, regions, shared, *many))],
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
