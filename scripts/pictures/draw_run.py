# SPDX-License-Identifier: Apache-2.0
"""Draws a run's scenarios. By default bars: the time of a collective, or the slowdown of the backward pass by cause.
For a kernel beside a collective: both slowdowns.
For a plan: its schedules, the exposed part of host copies, or the loss. For several workloads on a machine: the time
they lose to each other. For a many-core coprocessor: the parts of a step."""
import json

import draw_copies
import draw_learning
import draw_members
import draw_offload
import draw_schedule
import draw_shared
import svg

CAUSES = {"sm": "SMs held", "l2": "L2 capacity", "hbm": "memory bandwidth", "latency": "latency under load",
          "completion": "kernels' completions", "clock": "clock", "other": "other"}
WIDTH, LEFT, ROW, TOP = 560, 110, 30, 44


def time(us):
    return f"{us / 1000:.4g} ms" if us >= 10000 else f"{us:.4g} us"


def draw_collectives(name, bars, left=LEFT):
    """Draws a bar for each label and its collective."""
    picture = svg.Svg(WIDTH, TOP + ROW * len(bars) + 12, name)
    picture.text(12, 24, "time of the collective, and bus bandwidth", 13, bold=True)
    longest = max(collective["time_us"] for _, collective in bars)
    for i, (label, collective) in enumerate(bars):
        y = TOP + ROW * i
        length = collective["time_us"] / longest * (WIDTH - left - 160)
        picture.text(left - 8, y + 16, label, 12, anchor="end")
        picture.rect(left, y, length, ROW - 8, svg.COLORS[i % len(svg.COLORS)])
        words = f"{time(collective['time_us'])}, {collective['bus_bandwidth_GBps']:.0f} GB/s"
        picture.text(left + length + 6, y + 16, words, 12, svg.FAINT)
    return str(picture)


def draw_causes(name, scenarios):
    scenarios = [s for s in scenarios if s["slowdown_by_cause"]]
    shares = [s["slowdown_by_cause"] for s in scenarios]
    most = max(sum(max(v, 0) for v in share.values()) for share in shares)
    least = min(sum(min(v, 0) for v in share.values()) for share in shares)
    scale = (WIDTH - LEFT - 190) / (most - least)
    zero = LEFT - least * scale
    picture = svg.Svg(WIDTH, TOP + ROW * len(scenarios) + 34, name)
    picture.text(12, 24, "slowdown of the backward pass by cause, and a step's time", 13, bold=True)
    shown = [c for c in CAUSES if any(abs(share.get(c, 0)) >= 5e-4 for share in shares)]
    for i, (scenario, share) in enumerate(zip(scenarios, shares)):
        y = TOP + ROW * i
        up = down = zero
        picture.text(LEFT - 8, y + 16, scenario["name"], 12, anchor="end")
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
    x = 12
    for cause in shown:
        picture.rect(x, bottom + 10, 11, 11, svg.COLORS[list(CAUSES).index(cause)])
        picture.text(x + 16, bottom + 20, CAUSES[cause], 11, svg.FAINT)
        x += 30 + 6.6 * len(CAUSES[cause])
    return str(picture)


def draw_loops(name, scenarios):
    """Draws two bars for each scenario: by how much a kernel and a collective slow each other."""
    bars = [(s["name"], what, s[f"{what}_slowdown"], s[f"{what}_beside_us"])
            for s in scenarios for what in ("kernel", "collective")]
    picture = svg.Svg(WIDTH, TOP + ROW * len(bars) + 34, name)
    picture.text(12, 24, "slowdown of a kernel and a collective beside each other", 13, bold=True)
    longest = max(slowdown for _, _, slowdown, _ in bars)
    for i, (scenario, what, slowdown, us) in enumerate(bars):
        y = TOP + ROW * i
        length = max(slowdown, 0) / longest * (WIDTH - LEFT - 170)
        if what == "kernel":
            picture.text(LEFT - 8, y + 16, scenario, 12, anchor="end")
        picture.rect(LEFT, y, length, ROW - 8, svg.COLORS[0 if what == "kernel" else 1])
        picture.text(LEFT + length + 6, y + 16, f"{100 * slowdown:.1f} %, {time(us)} each", 12, svg.FAINT)
    bottom = TOP + ROW * len(bars)
    for i, what in enumerate(("kernel", "collective")):
        picture.rect(12 + 90 * i, bottom + 10, 11, 11, svg.COLORS[i])
        picture.text(28 + 90 * i, bottom + 20, what, 11, svg.FAINT)
    return str(picture)


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
        return draw_collectives(result["experiment"], bars, 2 * LEFT)
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
    if (folder / "passes.csv").is_file():
        return draw_schedule.draw(folder)
    return draw_causes(result["experiment"], result["scenarios"])
