# SPDX-License-Identifier: Apache-2.0
"""Draws a run's scenarios. By default bars: the time of a collective, or the slowdown of the backward pass by cause. Where
one scenario without overlap comes first, the report's waterfall from it to the others.
Without causes, the time of a step. For a kernel beside a collective: both slowdowns.
For a plan: its schedules, the exposed part of host copies, or the loss. For several workloads on a machine: the time
they lose to each other. For a many-core coprocessor: the parts of a step."""
import csv
import json

import draw_copies
import draw_learning
import draw_members
import draw_offload
import draw_schedule
import draw_shared
import draw_waterfall
import svg

CAUSES = {"sm": "SMs held", "l2": "L2 capacity", "hbm": "memory bandwidth", "latency": "latency under load",
          "completion": "kernels' completions", "clock": "clock", "other": "other"}
WIDTH, LEFT, ROW, TOP = 560, 110, 30, 44


def time(us):
    return f"{us / 1000:.4g} ms" if us >= 10000 else f"{us:.4g} us"


def left_of(labels):
    """Where bars begin, right of their labels."""
    return max(LEFT, 20 + 7.2 * max(len(label) for label in labels))


def legend(picture, entries, y):
    """Draws a colour and its words one after the other, in as many lines as they take. Returns how many those are."""
    x, line = 12, 0
    for color, words in entries:
        if x + 20 + 6.6 * len(words) > picture.width:
            x, line = 12, line + 1
        picture.rect(x, y + 16 * line, 11, 11, color)
        picture.text(x + 16, y + 10 + 16 * line, words, 11, svg.FAINT)
        x += 30 + 6.6 * len(words)
    return line + 1


def rate(gigabytes):
    return f"{gigabytes:.0f} GB/s" if gigabytes >= 10 else f"{gigabytes:.1f} GB/s"


def draw_collectives(name, bars):
    """Draws a bar for each label and its collective."""
    left = left_of([label for label, _ in bars])
    picture = svg.Svg(WIDTH, TOP + ROW * len(bars) + 12, name)
    picture.text(12, 24, "time of the collective, and bus bandwidth", 13, bold=True)
    longest = max(collective["time_us"] for _, collective in bars)
    for i, (label, collective) in enumerate(bars):
        y = TOP + ROW * i
        length = collective["time_us"] / longest * (WIDTH - left - 160)
        picture.text(left - 8, y + 16, label, 12, anchor="end")
        picture.rect(left, y, length, ROW - 8, svg.COLORS[i % len(svg.COLORS)])
        words = f"{time(collective['time_us'])}, {rate(collective['bus_bandwidth_GBps'])}"
        picture.text(left + length + 6, y + 16, words, 12, svg.FAINT)
    return str(picture)


def draw_steps(name, scenarios):
    """Draws a bar for each scenario's step, with its interval."""
    left = left_of([s["name"] for s in scenarios])
    picture = svg.Svg(WIDTH, TOP + ROW * len(scenarios) + 12, name)
    picture.text(12, 24, "time of a step; whiskers: where 90 % of such steps lie", 13, bold=True)
    ends = [s["intervals"].get("iteration_us", {}) for s in scenarios]
    longest = max(max(s["iteration_us"], end.get("high") or 0) for s, end in zip(scenarios, ends))
    scale = (WIDTH - left - 100) / longest
    for i, (scenario, end) in enumerate(zip(scenarios, ends)):
        y = TOP + ROW * i
        picture.text(left - 8, y + 16, scenario["name"], 12, anchor="end")
        picture.rect(left, y, scenario["iteration_us"] * scale, ROW - 8, svg.COLORS[i % len(svg.COLORS)])
        if end.get("low") and end.get("high"):
            middle = y + (ROW - 8) / 2
            picture.line([(left + end["low"] * scale, middle), (left + end["high"] * scale, middle)])
        picture.text(left + 6, y + 16, time(scenario["iteration_us"]), 12, "#ffffff")
    return str(picture)


def draw_causes(name, scenarios):
    scenarios = [s for s in scenarios if s["slowdown_by_cause"]]
    shares = [s["slowdown_by_cause"] for s in scenarios]
    most = max(sum(max(v, 0) for v in share.values()) for share in shares)
    least = min(sum(min(v, 0) for v in share.values()) for share in shares)
    left = left_of([s["name"] for s in scenarios])
    scale = (WIDTH - left - 190) / (most - least)
    zero = left - least * scale
    picture = svg.Svg(WIDTH, TOP + ROW * len(scenarios) + 18, name)
    picture.text(12, 24, "slowdown of the backward pass by cause, and a step's time", 13, bold=True)
    shown = [c for c in CAUSES if any(abs(share.get(c, 0)) >= 5e-4 for share in shares)]
    for i, (scenario, share) in enumerate(zip(scenarios, shares)):
        y = TOP + ROW * i
        up = down = zero
        picture.text(left - 8, y + 16, scenario["name"], 12, anchor="end")
        for cause in shown:
            length = share[cause] * scale
            color = svg.COLORS[list(CAUSES).index(cause)]
            if length >= 0:
                picture.rect(up, y, length, ROW - 8, color)
                up += length
            else:
                down += length
                picture.rect(down, y, -length, ROW - 8, color)
        words = f"{100 * scenario['backward_slowdown']:.1f} %, {time(scenario['iteration_us'])} a step"
        picture.text(up + 6, y + 16, words, 12, svg.FAINT)
    bottom = TOP + ROW * len(scenarios)
    picture.line([(zero, TOP - 4), (zero, bottom - 4)], svg.INK)
    entries = [(svg.COLORS[list(CAUSES).index(cause)], CAUSES[cause]) for cause in shown]
    picture.resize(picture.height + 16 * legend(picture, entries, bottom + 10))
    return str(picture)


def draw_loops(name, scenarios):
    """Draws two bars for each scenario: by how much a kernel and a collective slow each other."""
    bars = [(s["name"], what, s[f"{what}_slowdown"], s[f"{what}_beside_us"])
            for s in scenarios for what in ("kernel", "collective")]
    left = left_of([s["name"] for s in scenarios])
    picture = svg.Svg(WIDTH, TOP + ROW * len(bars) + 34, name)
    picture.text(12, 24, "slowdown of a kernel and a collective beside each other", 13, bold=True)
    longest = max(slowdown for _, _, slowdown, _ in bars)
    for i, (scenario, what, slowdown, us) in enumerate(bars):
        y = TOP + ROW * i
        length = max(slowdown, 0) / longest * (WIDTH - left - 170)
        if what == "kernel":
            picture.text(left - 8, y + 16, scenario, 12, anchor="end")
        picture.rect(left, y, length, ROW - 8, svg.COLORS[0 if what == "kernel" else 1])
        picture.text(left + length + 6, y + 16, f"{100 * slowdown:.1f} %, {time(us)} each", 12, svg.FAINT)
    bottom = TOP + ROW * len(bars)
    legend(picture, [(svg.COLORS[i], what) for i, what in enumerate(("kernel", "collective"))], bottom + 10)
    return str(picture)


def stages(folder):
    """How many stages the passes of a step are of; 0 without passes."""
    passes = folder / "passes.csv"
    if not passes.is_file():
        return 0
    with passes.open(encoding="utf-8", newline="") as rows:
        return len({row["pass"].rpartition("@")[2] for row in csv.DictReader(rows)})


def draw(folder):
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    if result["workload"]["type"] == "collective":
        return draw_collectives(
            result["experiment"], [(s["name"], s["collectives"][0]) for s in result["scenarios"]])
    if result["workload"]["type"] == "kernel_beside_collective":
        return draw_loops(result["experiment"], result["scenarios"])
    if result["workload"]["type"] == "experts":
        bars = [(f"{s['name']}, {c['name'].split()[1].removeprefix('moe_')}", c)
                for s in result["scenarios"] for c in s["collectives"]]
        return draw_collectives(result["experiment"], bars)
    if any(s.get("run") for s in result["scenarios"]):
        return draw_members.draw(result)
    if result["workload"]["type"] == "many_core":
        return draw_offload.draw(result)
    if result["workload"]["type"] == "shared":
        return draw_shared.draw(result["experiment"], result["scenarios"])
    if any(s.get("learning") for s in result["scenarios"]):
        return draw_learning.draw(result)
    if (folder / "passes.csv").is_file() and any(s["exposed_copies_us"] for s in result["scenarios"]):
        return draw_copies.draw(result)
    if stages(folder) > 1:
        return draw_schedule.draw(folder)
    if [s["overlap"] for s in result["scenarios"]] == [False] + [True] * (len(result["scenarios"]) - 1):
        return draw_waterfall.draw(folder, f"{result['experiment']}: what overlap costs, and what each scenario gives back")
    if not any(s["slowdown_by_cause"] for s in result["scenarios"]):
        return draw_steps(result["experiment"], result["scenarios"])
    return draw_causes(result["experiment"], result["scenarios"])
