#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the measurements on one GPU that validate the simulator, in parts that fit a short lease.

Parts, in this order: micro (bandwidth by blocks, latencies, co-residency), capture (switchfold's
capture compared with PyTorch's profiler, kernel by kernel), contention (backward passes beside a
memory mover). Finished parts are kept in --out, and a second run continues where the first ended.
Exit code 0 means that everything is measured, 3 that something remains to be measured.

usage: measure.py --build BUILD --out DIR [--part PART]... [--budget SECONDS]
example: validation/h200/measure.py --build build/release --out runs/h200
         cp runs/h200/*.json validation/h200/data/
"""
import argparse
import json
import pathlib
import subprocess
import sys

import compare
from parts import Deadline, Store, provenance, run_items, write_json

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = ("resnet50", "bert_large", "gpt2")
PARTS = ("micro", "capture", "contention")
UNFINISHED = 3
BAD_INPUT = 2


def say(line):
    print(f"measure: {line}", file=sys.stderr, flush=True)


def output_of(command, timeout=300):
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        words = " ".join(str(word) for word in command)
        raise RuntimeError(f"{words}: code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def versions():
    found = {}
    query = "name,driver_version,clocks.max.sm,clocks.max.memory,memory.total,power.limit"
    found["gpu"] = output_of(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]
    ).strip()
    ask = (
        "import json, torch; print(json.dumps({'torch': torch.__version__, "
        "'cuda': torch.version.cuda, 'cudnn': torch.backends.cudnn.version(), "
        "'sms': torch.cuda.get_device_properties(0).multi_processor_count}))"
    )
    found |= json.loads(output_of([sys.executable, "-c", ask]))
    return {name: str(value) for name, value in found.items()}


class Tools:
    """Paths of the tools in the build folder."""

    def __init__(self, build):
        self.capture = build / "workloads/capture/switchfold-capture"
        self.switchfold = build / "app/switchfold"
        self.micro = build / "validation/h200/h200_micro"
        self.mover = build / "validation/h200/libring_mover.so"

    def needed(self, parts):
        by_part = {
            "micro": [self.micro],
            "capture": [self.capture, self.switchfold],
            "contention": [self.mover],
        }
        return [tool for part in parts for tool in by_part[part]]


def measure_micro(tools, out, deadline, origin):
    store = Store(out / "micro.items")
    items = [{"key": which} for which in ("bandwidth", "latency", "residency")]

    def measure(item):
        return [json.loads(line) for line in output_of([tools.micro, item["key"]]).splitlines()]

    left = run_items(store, items, deadline, measure, 30, say)
    if left == 0:
        write_json(
            out / "micro.json", {"schema": "switchfold/h200-micro/1", **origin, **store.items}
        )
    return left


def empty_folder(path):
    path.mkdir(parents=True, exist_ok=True)
    for old in path.glob("*"):
        old.unlink()
    return path


def convert(tools, sources, lines):
    output_of([tools.switchfold, "trace", "convert", *sources, "--out", lines])
    return compare.read_kernels(lines)


def compare_network(tools, out, network):
    """Runs the same steps in two processes, since CUPTI serves one profiler at a time."""
    work = empty_folder(out / "capture" / network)
    steps = [sys.executable, HERE / "train_steps.py", network]
    output_of([tools.capture, "--out", work, "--", *steps])
    output_of([*steps, "--kineto", work / "kineto.json"])
    ours = convert(tools, [work / "rank0.sfcapture"], work / "ours.jsonl")
    theirs = convert(tools, [work / "kineto.json"], work / "theirs.jsonl")
    summary = compare.compare(ours, theirs)
    summary["capture_bytes"] = (work / "rank0.sfcapture").stat().st_size
    return summary


def counted_file(out, network):
    return out / "counters" / network / "kernels.jsonl"


def count_network(tools, out, network):
    """Counts the DRAM bytes of each kernel in a second pass over one step."""
    work = empty_folder(out / "counters" / network)
    steps = [sys.executable, HERE / "train_steps.py", network, "--steps", "1", "--warm-up", "1"]
    output_of([tools.capture, "--counters", "--out", work, "--", *steps])
    kernels = convert(tools, sorted(work.glob("*.sfcapture")), counted_file(out, network))
    return {
        "kernels": len(kernels),
        "counted": sum(k.get("bytes_from") == "counters" for k in kernels),
    }


def measure_capture(tools, out, deadline, origin):
    store = Store(out / "capture.items")
    actions = {"against Kineto": compare_network, "counters": count_network}
    items = [
        {"key": f"{network} {action}", "network": network, "action": action}
        for action in actions
        for network in NETWORKS
    ]

    def measure(item):
        return actions[item["action"]](tools, out, item["network"])

    left = run_items(store, items, deadline, measure, 90, say)
    if left == 0:
        write_json(
            out / "capture.json", {"schema": "switchfold/h200-capture/1", **origin, **store.items}
        )
    return left


def counted(out, network):
    lines = counted_file(out, network)
    return compare.counted_bytes(compare.read_kernels(lines)) if lines.exists() else {}


def measure_contention(tools, out, deadline, origin):
    import contention

    store = Store(out / "contention.items")
    measurement = contention.Measurement(tools.mover, store)
    left = run_items(store, contention.items(NETWORKS), deadline, measurement, 20, say)
    if left == 0:
        write_json(
            out / "contention.json",
            contention.result(store, NETWORKS, origin, lambda network: counted(out, network)),
        )
    return left


MEASURE = {
    "micro": measure_micro,
    "capture": measure_capture,
    "contention": measure_contention,
}


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--budget", type=float, default=540, help="seconds (540)")
    return parser.parse_args(arguments)


def main():
    arguments = parse(sys.argv[1:])
    parts = arguments.part or list(PARTS)
    out = arguments.out.resolve()
    tools = Tools(arguments.build.resolve())
    missing = [str(tool) for tool in tools.needed(parts) if not tool.exists()]
    if missing:
        say(f"{missing[0]}: does not exist; expected a build with the CUDA Toolkit")
        return BAD_INPUT
    out.mkdir(parents=True, exist_ok=True)
    deadline = Deadline(arguments.budget)
    try:
        origin = provenance(versions(), " ".join(sys.argv))
        left = 0
        for part in parts:
            left += MEASURE[part](tools, out, deadline, origin)
    except (OSError, RuntimeError) as error:
        say(str(error))
        return UNFINISHED
    if left:
        say(f"{left} measurements are left; the same command goes on")
        return UNFINISHED
    return 0


if __name__ == "__main__":
    sys.exit(main())
