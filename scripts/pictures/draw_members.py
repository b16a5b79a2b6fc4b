# SPDX-License-Identifier: Apache-2.0
"""Runs in which members join and leave: GPUs and samples per second over time, one line per scenario."""
import svg

WIDTH, HEIGHT, LEFT, TOP, GAP = 660, 110, 70, 44, 44


def panel(picture, top, lines, title):
    high_x = max(x for _, points in lines for x, _ in points)
    high_y = max(y for _, points in lines for _, y in points) * 1.05
    picture.text(LEFT, top - 6, title, 11, svg.FAINT)
    for share in (0, 0.5, 1):
        y = top + HEIGHT * (1 - share)
        picture.line([(LEFT, y), (LEFT + WIDTH, y)], svg.LINE)
        picture.text(LEFT - 6, y + 4, svg.tick(high_y * share, 4), 10, svg.FAINT, "end")
    for share in (0, 0.25, 0.5, 0.75, 1):
        picture.text(LEFT + WIDTH * share, top + HEIGHT + 14, svg.duration(high_x * share), 10, svg.FAINT, "middle")
    for i, (_, points) in enumerate(lines):
        picture.line([(LEFT + WIDTH * x / high_x, top + HEIGHT * (1 - y / high_y)) for x, y in points],
                     svg.COLORS[i % len(svg.COLORS)], 1.4)


def draw(result):
    runs = [s for s in result["scenarios"] if s.get("run")]

    def lines(key):
        return [(s["name"], [(at, stretch[key]) for stretch in s["run"]["stretches"]
                             for at in (stretch["begin_s"], stretch["end_s"])]) for s in runs]

    picture = svg.Svg(LEFT + WIDTH + 30, TOP + 2 * HEIGHT + GAP + 48, result["experiment"])
    picture.text(12, 22, "members and what they reach over the time of the run", 13, bold=True)
    panel(picture, TOP + 6, lines("members"), "GPUs")
    panel(picture, TOP + HEIGHT + GAP, lines("samples_per_s"), "samples a second")
    x, y = 12, TOP + 2 * HEIGHT + GAP + 28
    for i, scenario in enumerate(runs):
        picture.rect(x, y, 11, 11, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 16, y + 10, scenario["name"], 11, svg.FAINT)
        x += 34 + 6.2 * len(scenario["name"])
    return str(picture)
