# SPDX-License-Identifier: Apache-2.0
"""A sweep's scenarios compared with the first one with overlap: bars of the ratio of samples per second, on a
logarithmic scale, one group per value of the axis."""
import math
import sqlite3

import svg

GROUP, HEIGHT, LEFT, TOP, LEGEND = 150, 230, 46, 40, 30


def read(folder):
    """Returns the name of the first axis, and the results."""
    with sqlite3.connect(f"file:{folder / 'sweep.db'}?mode=rw", uri=True) as database:
        database.row_factory = sqlite3.Row
        axis = database.execute("SELECT name FROM axes ORDER BY axis").fetchone()[0]
        rows = [dict(row) for row in database.execute("SELECT * FROM results WHERE status = 'done'")]
    return axis, rows


def draw(folder):
    axis, rows = read(folder)
    groups = list(dict.fromkeys(row[axis] for row in rows))
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    base = next(row["scenario"] for row in rows if row["overlap"])
    pace = {(row[axis], row["scenario"]): row["samples_per_s"] for row in rows}
    ratios = {key: value / pace[key[0], base] for key, value in pace.items()}
    close = all(0.7 < ratio < 1.4 for ratio in ratios.values())  # differences are told in percent
    low = math.log(0.7 if close else min(0.5, min(ratios.values()) * 0.9))
    high = math.log(1.25 if close else max(2, max(ratios.values()) * 1.3))

    def y_of(ratio):
        return TOP + HEIGHT * (1 - (math.log(ratio) - low) / (high - low))

    picture = svg.Svg(LEFT + GROUP * len(groups) + 20, TOP + HEIGHT + 30 + LEGEND, folder.name)
    unit = ", %" if close else ""
    picture.text(12, 22, f"samples a second over those of {base}{unit}", 13, bold=True)
    for tick in (0.7, 0.8, 0.9, 1, 1.1, 1.2) if close else (
            step * 10.0**power for power in range(-2, 3) for step in (1, 2, 5)):
        if low <= math.log(tick) <= high:
            y = y_of(tick)
            picture.line([(LEFT, y), (LEFT + GROUP * len(groups), y)], svg.INK if tick == 1 else svg.LINE)
            picture.text(LEFT - 6, y + 4, f"{tick:g}", 10, svg.FAINT, "end")
    width = (GROUP - 24) / len(scenarios)
    for g, group in enumerate(groups):
        left = LEFT + GROUP * g + 12
        picture.text(left + (GROUP - 24) / 2, TOP + HEIGHT + 16, group, 10, svg.FAINT, "middle")
        for i, name in enumerate(scenarios):
            ratio = ratios[group, name]
            top, bottom = min(y_of(ratio), y_of(1)), max(y_of(ratio), y_of(1))
            x = left + width * i
            picture.rect(x + 1, top, width - 2, max(bottom - top, 1.5), svg.COLORS[i % len(svg.COLORS)])
            told = f"{100 * (ratio - 1):+.0f}" if close else f"{ratio:.2g}"
            picture.text(x + width / 2, top - 4 if ratio >= 1 else bottom + 11, told, 8, svg.FAINT, "middle")
    x, y = 12, TOP + HEIGHT + 30
    for i, name in enumerate(scenarios):
        picture.rect(x, y, 11, 11, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 16, y + 10, name, 11, svg.FAINT)
        x += 34 + 6.2 * len(name)
    return str(picture)
