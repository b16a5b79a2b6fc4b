# SPDX-License-Identifier: Apache-2.0
"""Knobs of one machine, each turned alone: for each knob small charts of the time by the knob's factor, one a workload,
with a line a scenario. `draw` gives all in one picture, `pieces` a picture a knob."""
import sqlite3

import draw_sweep
import svg

WIDTH, HEIGHT, LEFT, TOP, GAP, BOTTOM = 190, 110, 44, 40, 56, 40
TITLES = {"sms": "SMs", "l2": "L2 capacity", "hbm": "HBM bandwidth", "link": "link bandwidth",
          "entries": "entries of the reduction unit", "adders": "adders of the reduction unit"}


def read(folder):
    """Times in us by (knob, workload, scenario): a list of (factor, time)."""
    with sqlite3.connect(f"file:{folder / 'sweep.db'}?mode=rw", uri=True) as database:
        rows = database.execute("SELECT knob, workload, scenario, iteration_us FROM results WHERE status = 'done' ORDER BY point")
        times = {}
        for knob, workload, scenario, time in rows:
            name, _, factor = knob.rpartition(" x")
            times.setdefault((name, workload, scenario), []).append((factor, time))
    return times


def panel(picture, left, top, workload, lines, most, legend):
    """One chart: time from 0 to `most` over the factors."""
    scale, unit = (1000, "ms") if most >= 2000 else (1, "us")
    bottom = top + HEIGHT
    picture.text(left, top - 6, f"{workload} ({unit})", 10, svg.FAINT)
    for i in range(3):
        y = bottom - HEIGHT * i / 2
        picture.line([(left, y), (left + WIDTH, y)], svg.LINE)
        picture.text(left - 5, y + 4, f"{most / scale * i / 2:g}", 9, svg.FAINT, "end")
    for i, (scenario, points) in enumerate(lines.items()):
        places = [(left + WIDTH * (n + 0.5) / len(points), bottom - time / most * HEIGHT) for n, (_, time) in enumerate(points)]
        picture.line(places, svg.COLORS[i], 1.6)
        for x, y in places:
            picture.circle(x, y, 2.5, svg.COLORS[i])
        if i == 0:
            for (x, _), (factor, _) in zip(places, points):
                picture.text(x, bottom + 14, "1/2" if factor == "0.5" else factor, 9, svg.FAINT, "middle")
        if legend:
            x = left + 94 * i
            picture.rect(x, bottom + 22, 9, 9, svg.COLORS[i])
            picture.text(x + 13, bottom + 30, scenario.replace("_", " "), 10, svg.FAINT)


def put(picture, times, knob, left, top):
    """Both charts of a knob."""
    picture.text(left - LEFT + 10, top + 16, TITLES.get(knob, knob), 12, bold=True)
    workloads = list(dict.fromkeys(w for k, w, _ in times if k == knob))
    for n, workload in enumerate(workloads):
        lines = {s: points for (k, w, s), points in times.items() if (k, w) == (knob, workload)}
        # One scale for all knobs of a workload.
        most = draw_sweep.ceiling(max(time for (_, w, _), points in times.items() if w == workload for _, time in points))
        panel(picture, left + n * (WIDTH + GAP), top + TOP, workload, lines, most, n == 0)
    return len(workloads)


def size(times):
    """Width and height of a knob's charts."""
    workloads = len({w for _, w, _ in times})
    return LEFT + workloads * (WIDTH + GAP), TOP + HEIGHT + BOTTOM


def draw(folder):
    times = read(folder)
    knobs = list(dict.fromkeys(knob for knob, _, _ in times))
    width, height = size(times)
    picture = svg.Svg(2 * width, (len(knobs) + 1) // 2 * height, folder.name)
    for n, knob in enumerate(knobs):
        put(picture, times, knob, LEFT + n % 2 * width, n // 2 * height)
    return str(picture)


def pieces(folder):
    """Pictures by the names of their files."""
    times = read(folder)
    out = {}
    for knob in dict.fromkeys(knob for knob, _, _ in times):
        picture = svg.Svg(*size(times), TITLES.get(knob, knob))
        put(picture, times, knob, LEFT, 0)
        out[f"{folder.name}_{knob}"] = str(picture)
    return out
