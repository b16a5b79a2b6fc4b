# SPDX-License-Identifier: Apache-2.0
"""The loss under a run's schedules: one line per scenario, over steps and over simulated time."""
import math

import svg

WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND = 300, 220, 60, 44, 70, 50


def ticks(low, high):
    return [step * 10.0**power for power in range(-9, 10) for step in (1, 2, 5)
            if low * 0.999 <= step * 10.0**power <= high * 1.001]


def round_steps(high):
    """Round numbers that divide an axis from 0 into about four steps."""
    rough = high / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough)
    return [step * i for i in range(int(high / step) + 1)]


def panel(picture, left, lines, title, target):
    high_x = max(x for _, points in lines for x, _ in points)
    values = [y for _, points in lines for _, y in points] + ([target] if target else [])
    low, high = math.log(min(values) * 0.9), math.log(max(values) * 1.1)

    def x_of(x):
        return left + WIDTH * x / high_x

    def y_of(y):
        return TOP + HEIGHT * (1 - (math.log(y) - low) / (high - low))

    for tick in ticks(math.exp(low), math.exp(high)):
        picture.line([(left, y_of(tick)), (left + WIDTH, y_of(tick))], svg.LINE)
        picture.text(left - 6, y_of(tick) + 4, f"{tick:g}", 10, svg.FAINT, "end")
    for tick in round_steps(high_x):
        picture.text(x_of(tick), TOP + HEIGHT + 14, f"{tick:g}", 10, svg.FAINT, "middle")
    picture.text(left + WIDTH / 2, TOP + HEIGHT + 30, title, 11, svg.FAINT, "middle")
    if target:
        picture.line([(left, y_of(target)), (left + WIDTH, y_of(target))], svg.INK, 1, "4 3")
    for i, (_, points) in enumerate(lines):
        picture.line([(x_of(x), y_of(y)) for x, y in points], svg.COLORS[i % len(svg.COLORS)], 1.6)


def draw(result):
    learned = [s for s in result["scenarios"] if s.get("learning")]
    steps = [(s["name"], [(p["step"], p["loss"]) for p in s["learning"]["curve"] if p["loss"] > 0]) for s in learned]
    seconds = [(s["name"], [(p["seconds"] * 1e3, p["loss"]) for p in s["learning"]["curve"] if p["loss"] > 0])
               for s in learned]
    target = learned[0]["learning"]["target"]
    picture = svg.Svg(LEFT + 2 * WIDTH + GAP + 20, TOP + HEIGHT + 34 + LEGEND, result["experiment"])
    seeds = len(learned[0]["learning"]["seeds"])
    picture.text(12, 24, f"loss of a small network along the simulated times, mean of {seeds} seeds", 13, bold=True)
    panel(picture, LEFT, steps, "steps", target)
    panel(picture, LEFT + WIDTH + GAP, seconds, "simulated ms", target)
    x, y = 12, TOP + HEIGHT + 44
    for i, (name, _) in enumerate(steps):
        if x + 34 + 6.2 * len(name) > picture.width:
            x, y = 12, y + 18
        picture.rect(x, y, 11, 11, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 16, y + 10, name, 11, svg.FAINT)
        x += 34 + 6.2 * len(name)
    return str(picture)
