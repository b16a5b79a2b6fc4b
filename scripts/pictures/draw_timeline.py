# SPDX-License-Identifier: Apache-2.0
"""The first step of rank 0 in each of a run's scenarios, one above the other on a common time axis."""
import csv
import gzip
import json

import svg

COLLECTIVE = {"ring": svg.COLORS[4], "in_switch": svg.COLORS[2]}
LEFT, RIGHT, TOP, BLOCK = 118, 40, 76, 124
WIDTH = 1240


def heat(slowdown):
    """A colour from pale, at no slowdown, to dark red, at three times the time alone."""
    share = max(0.0, min(slowdown / 2, 1.0)) ** 0.6
    low, high = (253, 220, 175), (165, 0, 0)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high))


def first_step(run):
    """Each scenario's kernels and collectives in its first step, and the end of that step."""
    with gzip.open(run / "timeline.json.gz", "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    scenarios = {}
    for event in events:
        process = names.get(event["pid"], "")
        if event["ph"] != "X" or not process.endswith(" rank 0"):
            continue
        scenario = scenarios.setdefault(process[:-7], {"collectives": [], "kernels": [], "end": 0})
        if event["name"] == "ProfilerStep#0":
            scenario["end"] = event["ts"] + event["dur"]
        elif event["args"].get("communication"):
            scenario["collectives"].append((event["ts"], event["dur"]))
    with open(run / "kernels.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["rank"] == "0":
                scenarios[row["scenario"]]["kernels"].append(
                    (float(row["start_us"]), float(row["duration_us"]), float(row["slowdown"] or 0), row["phase"]))
    for scenario in scenarios.values():
        for part in ("collectives", "kernels"):
            scenario[part] = [bar for bar in scenario[part] if bar[0] < scenario["end"]]
    return scenarios


def draw(run):
    result = {s["name"]: s for s in json.loads((run / "result.json").read_text(encoding="utf-8"))["scenarios"]}
    scenarios = first_step(run)
    longest = max(s["end"] for s in scenarios.values())
    picture = svg.Svg(WIDTH, TOP + BLOCK * len(scenarios) + 44, "One training step, serial, ring and in the switch")
    place = lambda us: LEFT + us / longest * (WIDTH - LEFT - RIGHT)
    picture.text(20, 30, "One training step of ResNet-50 on 8 H100, rank 0", 18, bold=True)
    picture.text(20, 54, "Each kernel is a bar; the darker, the longer it takes than alone.", 13, svg.FAINT)
    for i in range(60):
        picture.rect(560 + 3 * i, 43, 3.2, 12, heat(i / 60 * 2))
    picture.text(552, 54, "1x", 12, svg.FAINT, "end")
    picture.text(746, 54, "3x its time alone", 12, svg.FAINT)
    bottom = TOP + BLOCK * len(scenarios)
    for tick in range(0, int(longest) + 1, 1000):
        picture.line([(place(tick), TOP), (place(tick), bottom)], svg.LINE)
        picture.text(place(tick), bottom + 18, f"{tick / 1000:g}", 12, svg.FAINT, "middle")
    picture.text((LEFT + WIDTH - RIGHT) / 2, bottom + 36, "simulated time (ms)", 12, svg.FAINT, "middle")
    for index, (name, scenario) in enumerate(scenarios.items()):
        y = TOP + BLOCK * index
        numbers = result[name]
        picture.text(20, y + 50, name, 15, bold=True)
        for phase in ("forward", "backward", "optimizer"):
            bars = [bar for bar in scenario["kernels"] if bar[3] == phase]
            if not bars:
                continue
            start, end = bars[0][0], max(bar[0] + bar[1] for bar in bars)
            words = phase
            if phase == "backward":
                words += f" pass: kernels {numbers['backward_us']:.0f} us"
                if numbers["overlap"]:
                    words += f", +{100 * numbers['backward_slowdown']:.1f} %"
            picture.line([(place(start), y + 30), (place(start), y + 25), (place(end), y + 25), (place(end), y + 30)],
                         svg.FAINT)
            picture.text(place((start + end) / 2), y + 19, words, 12, svg.INK, "middle", bold=phase == "backward")
        for start, taken, slowdown, _ in scenario["kernels"]:
            picture.rect(place(start), y + 36, max(place(start + taken) - place(start), 0.4), 34, heat(slowdown))
        color = COLLECTIVE.get(name, svg.COLORS[6])
        for start, taken in scenario["collectives"]:
            picture.rect(place(start), y + 76, place(start + taken) - place(start), 20, color, radius=2)
        picture.text(20, y + 67, f"{numbers['iteration_us'] / 1000:.2f} ms a step", 12, svg.FAINT)
        picture.text(20, y + 91, "all-reduces", 12, color)
        picture.line([(place(scenario["end"]), y + 32), (place(scenario["end"]), y + 100)], svg.INK, 1.5, "4 3")
    return str(picture)
