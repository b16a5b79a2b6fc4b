#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random experiments: machines, workloads and scenarios drawn from the schemas. Each must end in time, with results,
with errors that point into the file, or with the reason why the simulation cannot continue.

usage: random_experiments.py SWITCHFOLD SOURCE [--runs N] [--seed S] [--part PART] [--limit SECONDS]
       [--keep FOLDER]

The parts of a refused experiment that the errors point at are removed or drawn again, until it runs. Exits with 1 if a
run crashed, hung, or was refused without a pointer. Keeps such experiments, and those that stopped during the
simulation for a reason other than the limit.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

UNITS = {
    "": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12,
    "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30,
    "b/s": 0.125, "kb/s": 125, "Mb/s": 125e3, "Gb/s": 125e6, "Tb/s": 125e9,
}
SMALLEST = {"bytes": "B", "time": "ps", "bandwidth": "kB/s"}
QUANTITY = r"([0-9.]+) ?([A-Za-z/]*)"
# Limits of parameters that make a run longer but exercise nothing new.
MOST = {"gpus": 16, "ranks": 16, "nodes": 3, "machines": 3, "count": 4, "layers": 6, "blocks": 6, "batch": 8, "tokens": 512,
        "hidden": 2048, "sequence": 512, "vocabulary": 5000, "micro_batches": 8, "planes": 8, "levels": 3, "lanes": 32,
        "global_batch": 64, "pipeline": 8, "accumulate": 16, "mini_batches": 32, "chunks": 4, "depth": 6, "width": 64,
        "samples": 512, "held_out": 256, "steps": 20, "evaluate_every": 8, "seeds": 4,
        "widths": 64, "cores": 8, "threads_per_core": 2, "team_cores": 8, "kernels": 20, "collectives": 20}
LARGEST_TRANSFER = 64 * 2**20
ATTEMPTS = 30  # to get an experiment that is not refused
# Keys that name files which this script does not write, or that an experiment has as one of PARTS or not at all.
LEFT_OUT = {"$source", "$base", "$schema", "files", "table", "kernel_times", "elastic", "limits", "costs",
            "launches"}
PARTS = ("learning", "planner", "run", "workloads")  # one experiment in four has one of them


def has_devices(system):
    return "devices" in json.loads(system.read_text())


class Sampler:
    def __init__(self, schemas, rng):
        self.schemas, self.rng = schemas, rng

    def experiment(self, systems, part=None):
        """With the part, or as chance has it."""
        rng = self.rng
        properties = self.fields_of("experiment.schema.json")
        out = {"name": "random", "system": self.system(systems), "workload": self.workload()}
        if part is None and rng.random() < 0.05:
            return self.on_devices(out, [s for s in systems if has_devices(s)])
        for key in ("scenarios", "functional", "exact", "faults"):
            if rng.random() < (0.6 if key == "scenarios" else 0.2):
                out[key] = self.draw("experiment", properties[key], key)
        out["causes"] = rng.random() < 0.2
        if part or rng.random() < 0.25:
            part = part or rng.choice(PARTS)
            if part == "workloads":
                del out["workload"]
            else:
                out["workload"] = self.planned_training()
            out[part] = self.draw("experiment", properties[part], part)
        return out

    def on_devices(self, out, systems):
        """A workload on a many-core processor, which has nothing of GPUs."""
        out["system"] = str(self.rng.choice(systems))
        while out["workload"]["type"] != "many_core":
            out["workload"] = self.draw_workload()
        return out

    def planned_training(self):
        """A training workload, mostly with a plan, which learning, planners and changes need."""
        for _ in range(100):
            workload = self.workload()
            if workload["type"] == "training" and ("plan" in workload or self.rng.random() < 0.1):
                return workload
        return self.workload()

    def workload(self):
        """A workload on GPUs."""
        while (workload := self.draw_workload())["type"] == "many_core":
            pass
        return workload

    def draw_workload(self):
        return self.draw("experiment", self.fields_of("experiment.schema.json")["workload"], "workload")

    def fields_of(self, file):
        return next(a for a in self.schemas[file]["anyOf"] if a.get("required") != ["$base"])["properties"]

    def system(self, systems):
        """A shipped system of GPUs, a shipped system with some values changed, or a system drawn from the schema."""
        rng = self.rng
        path = str(rng.choice([s for s in systems if not has_devices(s)]))
        kind = rng.random()
        if kind < 0.3:
            return path
        properties = self.fields_of("system.schema.json")
        system = {"$base": path}
        if rng.random() < 0.5:
            system["collectives"] = self.draw("system", properties["collectives"], "collectives")
        if kind < 0.65:
            topology = self.schemas["topology.schema.json"]
            system["topology"] = self.draw("topology", {"anyOf": topology["anyOf"]}, "topology")
        return system

    def draw(self, file, node, name, depth=0):
        rng = self.rng
        if "$ref" in node:
            file, target = self.resolve(file, node["$ref"])
            return self.draw(file, target, name, depth)
        for key in ("oneOf", "anyOf"):
            if key in node:
                choices = [c for c in node[key] if c.get("required") != ["$base"] and c.get("type") != "null"]
                plain = [c for c in choices if not (c.get("type") == "string" and "Path" in c.get("description", ""))]
                return self.draw(file, rng.choice(plain or choices), name, depth)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return rng.choice(node["enum"])
        kind = node.get("type")
        if isinstance(kind, list):
            kind = rng.choice([k for k in kind if k != "null"])
        if kind == "object":
            return self.draw_object(file, node, depth)
        if kind == "array":
            most = min(node.get("maxItems", 3), 3)
            return [self.draw(file, node.get("items", {}), name, depth + 1)
                    for _ in range(rng.randint(max(1, node.get("minItems", 1)), max(1, most)))]
        if kind == "boolean":
            return rng.random() < 0.5
        if kind in ("integer", "number"):
            return self.draw_number(node, name, kind)
        if node.get("title") in SMALLEST:
            return self.draw_quantity(node, name)
        return node["default"] if isinstance(node.get("default"), str) else rng.choice(["0", "a", "0-1"])

    def draw_object(self, file, node, depth):
        out = {}
        required = set(node.get("required", []))
        for key, value in node.get("properties", {}).items():
            if key in LEFT_OUT and key not in required:
                continue
            if key in required or self.rng.random() < (0.35 if depth < 2 else 0.2):
                out[key] = self.draw(file, value, key, depth + 1)
        return out

    def resolve(self, file, ref):
        other, _, pointer = ref.partition("#")
        file = other.removesuffix(".schema.json") if other else file
        node = self.schemas[file + ".schema.json"]
        for part in filter(None, pointer.split("/")):
            node = node[part]
        if not pointer:
            node = {"anyOf": node["anyOf"]} if "anyOf" in node else node
        return file, node

    def draw_number(self, node, name, kind):
        low, high = node.get("minimum", 0), node.get("maximum", 1 << 20)
        high = max(low, min(high, MOST.get(name, high)))
        value = self.between(low, high, node.get("default"))
        if kind == "number":
            return round(value, 6)
        value = int(round(value))
        if self.rng.random() < 0.5 and value > 4:
            value = 1 << (value.bit_length() - 1)  # powers of two, as users often choose
        return max(low, min(high, value))

    def draw_quantity(self, node, name):
        bounds = re.search(rf"[Ff]rom {QUANTITY} to {QUANTITY}\.", node.get("description", ""))
        low, high = 1.0, 1e9
        if bounds:
            low = float(bounds[1]) * UNITS[bounds[2]]
            high = float(bounds[3]) * UNITS[bounds[4]]
        default = None
        if given := re.fullmatch(QUANTITY, str(node.get("default", ""))):
            default = float(given[1]) * UNITS[given[2]]
        if name in ("size", "bytes"):
            high = LARGEST_TRANSFER
        unit = SMALLEST[node["title"]]
        return f"{max(math.ceil(low / UNITS[unit]), int(self.between(low, high, default) / UNITS[unit]))} {unit}"

    def between(self, low, high, default):
        """Draws a value: mostly near the default, else log-uniform between the bounds, or one of the bounds."""
        rng = self.rng
        if isinstance(default, (int, float)) and not isinstance(default, bool) and default > 0 and rng.random() < 0.7:
            return min(high, max(low, default * 2 ** rng.uniform(-2, 2)))
        if rng.random() < 0.1:
            return rng.choice([low, high])
        start = max(low, 1e-6 if high <= 1 else 1)
        return min(high, max(low, math.exp(rng.uniform(math.log(start), math.log(max(high, start))))))


def without(experiment, pointer):
    """Removes the value that an error points at. Returns whether it was there."""
    parts = [p for p in pointer.split("/") if p]
    node = experiment
    for part in parts[:-1]:
        if isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        elif isinstance(node, dict) and part in node:
            node = node[part]
        else:
            return False
    if isinstance(node, list) and parts[-1].isdigit() and int(parts[-1]) < len(node):
        del node[int(parts[-1])]
    elif isinstance(node, dict) and parts[-1] in node:
        del node[parts[-1]]
    else:
        return False
    return True


def mended(experiment, stderr, sampler, systems):
    """The experiment without the refused values, or with a new system or workload."""
    pointers = re.findall(r": (/[\w/]*): ", stderr)
    done = False
    for pointer in sorted(set(pointers), reverse=True):  # removes list elements from the end
        if pointer.count("/") > 1 and not pointer.startswith("/system/topology"):
            done = without(experiment, pointer) or done
    whole = [p.split("/")[1] for p in pointers] or ["system", "workload"]
    if not done or sampler.rng.random() < 0.3:
        for part in PARTS:
            if part in whole and part in experiment:
                properties = sampler.fields_of("experiment.schema.json")
                experiment[part] = sampler.draw("experiment", properties[part], part)
        planned = any(part in experiment for part in PARTS)
        if ("workload" in whole or "scenarios" in whole) and "workload" in experiment:
            experiment["workload"] = sampler.planned_training() if planned else sampler.workload()
        if "system" in whole or "faults" in whole:
            experiment["system"] = sampler.system(systems)
            experiment.pop("faults", None)
    return experiment


def patience(limit):
    """Seconds that a whole run may take: the limit is that of one simulation, and causes need a dozen."""
    return 15 * limit + 30


def verdict(done, limit):
    """What is wrong with how a run ended, or None."""
    if done is None:
        return f"did not end within {patience(limit)} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line]
    if done.returncode == 2:
        pointed = [line for line in lines if re.search(r": /\S*: |^\S+: |: ", line)]
        return None if pointed else "refused without saying where: " + done.stderr
    if done.returncode == 3:
        return None if lines else "stopped without saying why"
    return f"exit code {done.returncode}: {done.stderr[-2000:]}"


def run(program, experiment, file, limit):
    command = "plan" if "planner" in experiment else "run"
    try:
        return subprocess.run([program, command, file, "--jobs", "1"], capture_output=True, text=True, check=False,
                              timeout=patience(limit))
    except subprocess.TimeoutExpired:
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=PARTS, help="experiments with this part only")
    parser.add_argument("--limit", type=int, default=20, help="seconds that a simulation may take")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("runs/random"))
    arguments = parser.parse_args()

    schemas = {p.name: json.loads(p.read_text()) for p in (arguments.source / "configs/schema").glob("*.json")}
    systems = sorted((arguments.source / "configs/systems").resolve().glob("*.json"))
    ended, wrong, refused = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.runs):
            seed = arguments.seed * 1_000_000 + number
            sampler = Sampler(schemas, random.Random(seed))
            experiment = sampler.experiment(systems, arguments.part)
            file = pathlib.Path(folder, "experiment.json")
            for _ in range(ATTEMPTS):
                experiment["limits"] = {"real_time": f"{arguments.limit} s"}
                file.write_text(json.dumps(experiment, indent=1))
                done = run(arguments.program, experiment, file, arguments.limit)
                if done is None or done.returncode != 2 or verdict(done, arguments.limit):
                    break
                refused += 1
                experiment = mended(experiment, done.stderr, sampler, systems)
            ended[done.returncode if done else "none"] += 1
            problem = verdict(done, arguments.limit)
            stopped = done is not None and done.returncode == 3 and "/limits/real_time" not in done.stderr
            if problem or stopped:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{seed}.json").write_text(json.dumps(experiment, indent=1))
            if problem:
                wrong += 1
                print(f"{seed}: {problem}")
            elif stopped:
                print(f"{seed}: stopped: {done.stderr.strip()[:400]}")
    print(", ".join(f"{count} ended with {code}" for code, count in sorted(ended.items(), key=str)), f"({refused} refused on the way)")
    if ended[0] == 0:
        print("no experiment ran")
    return 1 if wrong or ended[0] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
