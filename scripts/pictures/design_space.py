# SPDX-License-Identifier: Apache-2.0
"""Numbers of the study of units: what configs/sweeps/unit_design_space.json left in its database, and how large each
design's units are by `switchfold describe --units`. Everything that docs/notebook/unit_design_space.md says comes from here."""
import collections
import json
import pathlib
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOFTWARE = ("ring", "tree")
UNITS = ("pull", "push", "command")
# Less than this is no gain: one in a hundred.
GAIN = 0.01
# A machine, its GPUs, and what the page calls it.
GENERATIONS = {
    "discrete_16": (16, "16 V100 on one PCIe 3 switch"),
    "v100_reducing": (8, "DGX-1's 8 V100, on six switches"),
    "dgx2_v100_reducing": (16, "DGX-2, 16 V100"),
    "dgx_a100_reducing": (8, "DGX A100"),
    "hgx_h100": (8, "HGX H100"),
    "hgx_b200": (8, "HGX B200"),
    "gb200_nvl72": (72, "GB200 NVL72"),
    "nvl576_study": (576, "NVL576, hypothetical"),
}
# A design, its GPUs, and where its units stand.
PLACES = [
    ("hgx_h100 e256", 8, "NVSwitches, HGX H100"),
    ("discrete_16 e256", 8, "one PCIe 3 switch"),
    *((f"{pool} e{entries}", 8, f"{words}") for pool, words in (("cxl_pool", "a pool behind CXL"), ("ualink_pool", "pools behind UALink"))
      for entries in (64, 1024)),
    ("dgx_h100_ndr_sharp e1024 in leaf", 16, "leaves of two DGX H100"),
    ("dgx_h100_ndr_sharp e1024 in spine", 32, "spines of four DGX H100"),
    ("dgx_h100_ndr_sharp e1024 in leaf and spine", 32, "leaves and spines of four DGX H100"),
    ("hgx_a100_nic_reducing e1024 in leaf", 16, "leaves, two A100 a NIC"),
    ("hgx_a100_nic_reducing e1024 in NIC and leaf", 16, "NICs and leaves, two A100 a NIC")]
OWN_ENTRIES = {"gb200_nvl72": 512, "nvl576_study": 512}

Point = collections.namedtuple("Point", "design work ranks time slowdown iteration")


def bytes_of(size):
    number, unit = size.split()
    return int(number) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


def read(folder):
    """Points by (design, work, ranks): Point, whose figures are by scenario; and each design's system."""
    points = {}
    with sqlite3.connect(f"file:{folder / 'sweep.db'}?mode=rw", uri=True) as database:
        systems = {label: json.loads(values)[0] for label, values in database.execute(
            'SELECT label, "values" FROM axis_values JOIN axes USING (axis) WHERE name = \'design\'')}
        for design, work, ranks, scenario, time, slowdown, iteration, overlap in database.execute(
                "SELECT design, work, ranks_number, scenario, time_us, backward_slowdown, iteration_us, overlap "
                "FROM results WHERE status = 'done'"):
            if not overlap:
                continue
            point = points.setdefault((design, work, int(ranks)), Point(design, work, int(ranks), {}, {}, {}))
            if time is not None:
                point.time[scenario] = time
            else:
                point.slowdown[scenario], point.iteration[scenario] = slowdown, iteration
    return points, systems


def machine_of(design):
    return design.split()[0]


def knob(design, letter, default=None):
    for word in design.split(" in ")[0].split()[1:]:
        if word[0] == letter:
            return float(word[1:])
    return default


def areas(systems, program):
    """(low, high) mm2 of all units of a machine by design, at 7 nm."""
    out = {}
    for design, system in systems.items():
        told = subprocess.run([program, "describe", "-", "--units"], input=json.dumps({"name": "x"} | system),
                              capture_output=True, text=True, check=True, cwd=ROOT / "configs/sweeps").stdout
        every = json.loads(told)["all_mm2"]
        out[design] = (every["at_least"], every["at_most"])
    return out


def best(values, names):
    known = [values[name] for name in names if values.get(name) is not None]
    return min(known) if known else None


def gains(points, design, ranks):
    """Software's time over each mode's by size, in order of sizes; the mode's name, "any" for the best."""
    sizes = {}
    for (of, work, count), point in points.items():
        if of == design and count == ranks and point.time:
            software = best(point.time, SOFTWARE)
            sizes[work] = {mode: software / point.time[mode] for mode in UNITS if mode in point.time}
            sizes[work]["any"] = software / best(point.time, UNITS)
    return dict(sorted(sizes.items(), key=lambda item: bytes_of(item[0])))


def crossover(points, design, ranks, mode):
    """The least size from which on the mode gains, as far as sizes were swept; None if it never does."""
    found = None
    for size, by_mode in reversed(gains(points, design, ranks).items()):
        if by_mode.get(mode, 0) < 1 + GAIN:
            break
        found = size
    return found


def recovered(point, mode):
    """Share of the backward slowdown by software that the mode takes away; None without a slowdown to speak of."""
    software = best(point.slowdown, SOFTWARE)
    return None if software is None or software < 0.005 else 1 - best(point.slowdown, UNITS if mode == "any" else [mode]) / software


def steps_of(points, machine, ranks, design=None):
    return [point for point in points.values() if point.slowdown and machine_of(point.design) == machine and
            point.ranks == ranks and (design is None or point.design == design)]


def front(designs):
    """Of (area, gain, design): those to which no smaller one is as good, but for one in a hundred."""
    out = []
    for area, gain, design in sorted(designs, key=lambda one: (one[0], -one[1])):
        if not out or gain > out[-1][1] + GAIN:
            out.append((area, gain, design))
    return out


def pareto(points, area, work, ranks, mode, machine="hgx_h100"):
    """(low mm2, gain, design) of each design of the machine with ordinary links, for a size or a step."""
    out = []
    for (design, of, count), point in points.items():
        if machine_of(design) != machine or of != work or count != ranks or knob(design, "x") is not None:
            continue
        gain = recovered(point, mode) if point.slowdown else 1 - best(point.time, UNITS if mode == "any" else [mode]) / best(
            point.time, SOFTWARE)
        if gain is not None:
            out.append((area[design][0], gain, design))
    return out


def own_design(machine):
    """The one with the entries that the machine's file has."""
    return f"{machine} e{OWN_ENTRIES.get(machine, 256)}"


def step_design(machine):
    return own_design(machine)
