#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates every trace of a real run on every system with enough GPUs, in every scenario that the machine can run.
Each simulation must end within 60 s. The traces are not part of the repository; without them the test is skipped
(exit code 77).

usage: all_traces_test.py SWITCHFOLD SOURCE TRACES_DIRECTORY [quick | NAME...]; NAME: folders of traces
"""
import json
import pathlib
import subprocess
import sys
import tempfile

LIMIT = "60 s"
QUICK = {"hta_ddp_a100_2r": ["dgx_a100", "dgx1_v100"], "hta_ddp_v100_2r_latency": ["dgx2_v100"]}
# Their files do not say how large collectives are: the machine that was traced tells.
TRACED_ON = {"hta_ddp_v100_2r_latency": "dgx1_v100", "hta_ddp_a100_2r": "dgx_a100", "hta_dlrm_a100_8r": "dgx_a100",
             "hta_reco_a100_16r": "dgx_a100_hdr", "tracelens_resnet_ddp_mi300x_8r": "mi300x_8"}
SCENARIOS = [
    {"name": "serial", "overlap": False, "all_reduce": {"algorithm": "ring"}},
    {"name": "ring", "all_reduce": {"algorithm": "ring"}},
    {"name": "tree", "all_reduce": {"algorithm": "tree"}},
    {"name": "in_switch", "all_reduce": {"algorithm": "in_switch", "registered": True}},
]


def folders(traces):
    """Yields (name, workload) for each folder with the traces of a run; its name may give the number of ranks."""
    for folder in sorted(p for p in traces.iterdir() if p.is_dir()):
        # Kineto's, one of each rank or of one rank alone; Chakra's; Nsight's, which tell all ranks.
        kinds = ("rank*.json.gz", "*worker0.json.gz", "*.et.gz", "*.sqlite.gz")
        files = next((found for kind in kinds if (found := sorted(folder.glob(kind)))), [])
        if not files:
            continue
        workload = {"type": "trace", "files": [str(f) for f in files]}
        counts = [word[:-1] for word in folder.name.split("_") if word[:-1].isdigit() and word[-1] == "r"]
        if not files[0].name.endswith(".sqlite.gz"):
            workload["ranks"] = int(counts[-1]) if counts else len(files)
        yield folder.name, workload


def run(program, folder, experiment):
    file = pathlib.Path(folder, "experiment.json")
    file.write_text(json.dumps(experiment))
    return subprocess.run([program, "run", file, "--json"], capture_output=True, text=True, check=False)


def main(program, source, traces, *which):
    quick = which == ("quick",)
    if not pathlib.Path(traces).is_dir():
        return 77
    systems = [s for s in sorted(pathlib.Path(source, "configs/systems").glob("*.json"))
               if "devices" not in json.loads(s.read_text())]
    ran, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, workload in folders(pathlib.Path(traces)):
            if which and not quick and name not in which:
                continue
            for system in systems:
                if quick and system.stem not in QUICK.get(name, []):
                    continue
                if name in TRACED_ON:
                    workload["traced_on"] = str(pathlib.Path(source, f"configs/systems/{TRACED_ON[name]}.json"))
                for scenario in SCENARIOS:
                    done = run(
                        program,
                        folder,
                        {
                            "name": name,
                            "system": str(system),
                            "workload": workload,
                            "scenarios": [scenario],
                            "causes": False,
                            "limits": {"real_time": LIMIT},
                        },
                    )
                    # The program refuses what the machine cannot do: too few GPUs, no reduction in its switches.
                    refused = done.returncode == 2 and ("GPUs of" in done.stderr or "GPUs;" in done.stderr
                                                        or "/all_reduce/algorithm" in done.stderr)
                    ran += done.returncode == 0
                    if done.returncode != 0 and not refused:
                        wrong.append(f"{name} on {system.stem}, {scenario['name']}: {done.returncode}: {done.stderr}")
    print(f"{ran} runs ended")
    for line in wrong:
        print(line)
    return 1 if wrong or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
