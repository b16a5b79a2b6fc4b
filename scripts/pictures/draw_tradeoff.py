# SPDX-License-Identifier: Apache-2.0
"""The trade-off of a sweep's collectives: the time of a collective over the slowdown that it causes. One panel per
scenario with overlap, one line per value of the first axis, one point per value of the second."""
import math
import sqlite3

import draw_sweep
import svg

WIDTH, HEIGHT, LEFT, TOP, LEGEND = 300, 210, 46, 52, 26


def read(folder):
    """Returns the names of the two axes, and the rows of scenarios with overlap."""
    with sqlite3.connect(f"file:{folder / 'sweep.db'}?mode=rw", uri=True) as database:
        database.row_factory = sqlite3.Row
        axes = [row[0] for row in database.execute("SELECT name FROM axes ORDER BY axis")]
        rows = [dict(row) for row in database.execute("SELECT * FROM results WHERE status = 'done' AND overlap = 1")]
    return axes[:2], rows


def times(rows):
    return [row["collectives_us"] / row["collectives"] for row in rows]


def draw(folder):
    (line_axis, point_axis), rows = read(folder)
    panels = list(dict.fromkeys(row["scenario"] for row in rows))
    lines = list(dict.fromkeys(row[line_axis] for row in rows))
    low, high = math.log(min(times(rows)) * 0.85), math.log(max(times(rows)) * 1.15)
    most = draw_sweep.ceiling(max(row["backward_slowdown"] for row in rows) * 100)
    across = WIDTH + LEFT + 14
    picture = svg.Svg(across * len(panels) + 20, TOP + HEIGHT + 46 + LEGEND, folder.name)
    picture.text(12, 22, f"slowdown of the backward pass (%) by time of a collective (us), a point for each of {point_axis}",
                 13, bold=True)
    for p, panel in enumerate(panels):
        left, bottom = LEFT + across * p, TOP + HEIGHT
        picture.text(left, TOP - 8, panel, 11, bold=True)
        for i in range(5):
            y = bottom - HEIGHT * i / 4
            picture.line([(left, y), (left + WIDTH, y)], svg.LINE)
            picture.text(left - 6, y + 4, f"{most * i / 4:g}", 10, svg.FAINT, "end")
        for tick in (step * 10**power for power in range(7) for step in (1, 2, 5)):
            if low <= math.log(tick) <= high:
                x = left + (math.log(tick) - low) / (high - low) * WIDTH
                picture.text(x, bottom + 15, f"{tick:g}", 10, svg.FAINT, "middle")
        for i, name in enumerate(lines):
            part = [row for row in rows if row["scenario"] == panel and row[line_axis] == name]
            points = [(left + (math.log(time) - low) / (high - low) * WIDTH,
                       bottom - row["backward_slowdown"] * 100 / most * HEIGHT, row[point_axis])
                      for time, row in zip(times(part), part)]
            color = svg.COLORS[i % len(svg.COLORS)]
            picture.line([(x, y) for x, y, _ in points], color, 1.4)
            for x, y, words in points:
                picture.circle(x, y, 3, color)
                picture.text(x + 4, y - 5 if i == 0 else y + 13, words, 9, color)
    x, y = 12, TOP + HEIGHT + 34
    for i, name in enumerate(lines):
        picture.rect(x, y, 11, 11, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 16, y + 10, name, 11, svg.FAINT)
        x += 34 + 6.6 * len(name)
    return str(picture)
