# SPDX-License-Identifier: Apache-2.0
"""A run's pipelines over time: one panel per scenario with passes, one row per rank whose passes differ from those of
earlier ranks, or run at other times; idle time is blank. Of more than eight rows, eight evenly spaced ones are drawn. Panels of similar length
share a scale."""
import csv
import json

import svg

WIDTH, LEFT, RIGHT, ROW, TOP, PANEL, LEGEND = 760, 62, 12, 13, 44, 46, 20
MOST_ROWS = 8
# The report's colours; the whole backward pass and the gradient of the inputs share one.
COLORS = {"F": "#0072b2", "BW": "#e69f00", "B": "#e69f00", "W": "#009e73", "U": "#ecb7d4"}
WORDS = {"F": "forward", "BW": "backward", "B": "gradient of the inputs", "W": "gradient of the weights", "U": "update"}


def read(folder):
    """Passes by scenario and rank: (kind, start, end), sorted by start. Leaves out ranks equal to an earlier one."""
    ranks = {}
    with open(folder / "passes.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            ranks.setdefault((row["scenario"], int(row["rank"])), []).append(row)
    passes_of = {key: [(row["pass"].partition("@")[0].rstrip("0123456789"), float(row["start_us"]),
                        float(row["start_us"]) + float(row["duration_us"])) for row in rows] for key, rows in ranks.items()}
    ends, scenarios, seen = {}, {}, {}
    for (scenario, _), passes in passes_of.items():
        ends[scenario] = max([ends.get(scenario, 0)] + [end for _, _, end in passes])
    for (scenario, rank), rows in ranks.items():
        passes = passes_of[(scenario, rank)]
        before = seen.setdefault((scenario, tuple(row["pass"] for row in rows)), [])
        if any(alike(passes, other, ends[scenario] / 40) for other in before):
            continue
        before.append(passes)
        scenarios.setdefault(scenario, {})[rank] = sorted(passes, key=lambda p: p[1])
    for scenario, ranks in scenarios.items():
        if len(ranks) > MOST_ROWS:
            chosen = {round(i * (len(ranks) - 1) / (MOST_ROWS - 1)) for i in range(MOST_ROWS)}
            scenarios[scenario] = {rank: passes for i, (rank, passes) in enumerate(ranks.items()) if i in chosen}
    return scenarios


def alike(passes, others, about):
    """Whether each pass begins and ends at about the time of the other rank's: a slow or late rank is not like the others."""
    return all(abs(a[1] - b[1]) <= about and abs(a[2] - b[2]) <= about for a, b in zip(passes, others))


def halves(passes):
    """The top and bottom of each pass in its row: concurrent passes share the row, the forward pass above."""
    beside, latest = [False] * len(passes), 0
    for i in range(1, len(passes)):
        if passes[latest][2] > passes[i][1] + 1e-6:
            beside[i] = beside[latest] = True
        if passes[i][2] > passes[latest][2]:
            latest = i
    return [(0.5 if b and p[0] != "F" else 0.05, 0.5 if b and p[0] == "F" else 0.95) for p, b in zip(passes, beside)]


def milliseconds(us):
    return f"{us / 1000:.4g} ms"


def draw(folder):
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    figures = {s["name"]: s for s in result["scenarios"]}
    scenarios = read(folder)
    order = sorted(scenarios, key=lambda s: len(scenarios[s]) == 1)  # pipelines first
    ends = {s: max(p[2] for passes in ranks.values() for p in passes) for s, ranks in scenarios.items()}
    longest = max(ends.values())
    height = TOP + sum(PANEL + ROW * len(scenarios[s]) for s in order)
    picture = svg.Svg(WIDTH, height, result["experiment"])
    x = 12
    there = {kind for ranks in scenarios.values() for passes in ranks.values() for kind, _, _ in passes}
    for kind in (k for k in WORDS if k in there):
        picture.rect(x, 12, 11, 11, COLORS[kind])
        picture.text(x + 16, 22, WORDS[kind], 11, svg.FAINT)
        x += 34 + 6.6 * len(WORDS[kind])
    y = TOP
    for scenario in order:
        ranks, figure = scenarios[scenario], figures[scenario]
        scale = (WIDTH - LEFT - RIGHT) / (longest if ends[scenario] * 2 >= longest else ends[scenario])
        picture.text(12, y + 12, scenario, 12, bold=True)
        words = f"bubble {100 * figure['bubble_share']:.1f} %, iteration {milliseconds(figure['iteration_us'])}"
        picture.text(WIDTH - RIGHT, y + 12, words, 11, svg.FAINT, anchor="end")
        y += LEGEND
        bars = {}
        for place, (rank, passes) in enumerate(ranks.items()):
            picture.text(LEFT - 6, y + ROW * (place + 0.75), f"rank {rank}", 10, svg.FAINT, anchor="end")
            for (kind, start, end), (top, bottom) in zip(passes, halves(passes)):
                width = (end - start) * scale
                bars.setdefault(COLORS[kind], []).append(
                    (LEFT + start * scale, y + ROW * (place + top), max(width - 0.4, 0.6 * width), ROW * (bottom - top)))
        for color, rects in bars.items():
            picture.rects(rects, color)
        y += ROW * len(ranks)
        picture.line([(LEFT, y + 1), (WIDTH - RIGHT, y + 1)], svg.LINE)
        picture.text(LEFT, y + 13, "0", 10, svg.FAINT)
        picture.text(LEFT + ends[scenario] * scale, y + 13, milliseconds(ends[scenario]), 10, svg.FAINT, anchor="end")
        y += PANEL - LEGEND
    return str(picture)
