# SPDX-License-Identifier: Apache-2.0
"""The results of training a small network along a sweep's first axis: one line per scenario, with its 95 % interval.
Averages over an axis of seeds."""
import math
import sqlite3

import svg

WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND = 330, 230, 60, 44, 66, 36
# Maps a sweep to its panels: (column, column of its half width, title, whether logarithmic).
PANELS = {
    "learning_by_stages": [
        ("loss_ratio", "loss_ratio_half_width", "final loss over one GPU's", True),
        ("gap_closed", "gap_closed_half_width", "share of the gap to latest closed", False),
    ],
    "divergence_threshold": [
        ("final_loss", None, "final loss, mean of the seeds that did not diverge", True),
        ("diverged_seeds", None, "share of the seeds that diverged", False),
    ],
    "averaging_on_pcie": [
        ("time_ratio", "time_ratio_half_width", "time to the target over one GPU's", True),
    ],
    "seconds_to_target_on_pcie": [
        ("time_ratio", "time_ratio_half_width", "time to the target over data parallel's, ring", True),
    ],
}


def read(folder):
    """Returns name and labels of the first axis, the scenarios, and the rows."""
    with sqlite3.connect(f"file:{folder / 'sweep.db'}?mode=rw", uri=True) as database:
        database.row_factory = sqlite3.Row
        name = database.execute("SELECT name FROM axes ORDER BY axis").fetchone()[0]
        labels = [row[0] for row in database.execute("SELECT label FROM axis_values WHERE axis = 0 ORDER BY position")]
        rows = [dict(row) for row in database.execute("SELECT * FROM results WHERE status = 'done'")]
    return name, labels, list(dict.fromkeys(row["scenario"] for row in rows)), rows


def points(rows, axis, labels, scenario, column, half_width):
    """Yields (place, mean, half width) for each label that has values."""
    for place, label in enumerate(labels):
        own = [r for r in rows if str(r[axis]) == label and r["scenario"] == scenario and r[column] is not None]
        if own:
            width = own[0][half_width] if half_width else None
            yield place, sum(r[column] for r in own) / len(own), width or 0


def scale_of(values, logarithmic):
    if logarithmic:
        low, high = math.log(min(values) * 0.9), math.log(max(values) * 1.1)
        ticks = [s * 10.0**p for p in range(-4, 6) for s in (1, 2, 5) if low <= math.log(s * 10.0**p) <= high]
        return lambda v: (math.log(max(v, 1e-9)) - low) / (high - low), ticks
    low, high = min(0, *values), max(1, *values)
    return lambda v: (v - low) / (high - low), [low + (high - low) * i / 4 for i in range(5)]


def panel(picture, left, axis, labels, lines, title, logarithmic):
    values = [v for _, line in lines for _, mean, _ in line for v in (mean,)]
    values += [mean + half for _, line in lines for _, mean, half in line]
    values += [mean - half for _, line in lines for _, mean, half in line if not logarithmic or mean - half > mean / 10]
    share, ticks = scale_of(values, logarithmic)

    def x_of(place, i):
        return left + WIDTH * (place + 0.5) / len(labels) + (i - len(lines) / 2) * min(2.5, WIDTH / len(labels) / 40)

    def y_of(value):
        return TOP + HEIGHT * (1 - min(max(share(value), 0), 1))

    picture.text(left, TOP - 8, title, 11)
    for tick in ticks:
        picture.line([(left, y_of(tick)), (left + WIDTH, y_of(tick))], svg.INK if tick == 1 else svg.LINE)
        picture.text(left - 6, y_of(tick) + 4, svg.tick(tick, 3), 10, svg.FAINT, "end")
    for place, label in enumerate(labels):
        picture.text(left + WIDTH * (place + 0.5) / len(labels), TOP + HEIGHT + 14, label, 10, svg.FAINT, "middle")
    picture.text(left + WIDTH / 2, TOP + HEIGHT + 30, axis, 11, svg.FAINT, "middle")
    for i, line in lines:
        color = svg.COLORS[i % len(svg.COLORS)]
        picture.line([(x_of(place, i), y_of(mean)) for place, mean, _ in line], color, 1.6)
        for place, mean, half in line:
            picture.rect(x_of(place, i) - 2, y_of(mean) - 2, 4, 4, color)
            if half > 0:
                picture.line([(x_of(place, i), y_of(mean - half)), (x_of(place, i), y_of(mean + half))], color, 1)


def draw(folder):
    axis, labels, scenarios, rows = read(folder)
    panels = PANELS[folder.name]
    right = LEFT + len(panels) * WIDTH + (len(panels) - 1) * GAP + 16
    per_row = max(1, int((right - 12) / 150))
    rows_of_legend = (len(scenarios) + per_row - 1) // per_row
    picture = svg.Svg(right, TOP + HEIGHT + 34 + LEGEND + 18 * (rows_of_legend - 1), folder.name)
    picture.text(12, 20, "a small network trained along the simulated times", 13, bold=True)
    for p, (column, half_width, title, logarithmic) in enumerate(panels):
        lines = [(i, list(points(rows, axis, labels, name, column, half_width))) for i, name in enumerate(scenarios)]
        panel(picture, LEFT + p * (WIDTH + GAP), axis, labels, [line for line in lines if line[1]], title, logarithmic)
    for i, name in enumerate(scenarios):
        x, y = 12 + 150 * (i % per_row), TOP + HEIGHT + 46 + 18 * (i // per_row)
        picture.rect(x, y, 11, 11, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 16, y + 10, name, 11, svg.FAINT)
    return str(picture)
