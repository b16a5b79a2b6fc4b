# SPDX-License-Identifier: Apache-2.0
"""Bars of workloads that share a machine: the step time alone on the machine, and the time lost to the others."""
import svg

WIDTH, LEFT, ROW, TOP = 620, 190, 26, 44


def draw(name, scenarios):
    picture = svg.Svg(WIDTH, TOP + ROW * len(scenarios) + 34, name)
    picture.text(12, 24, "a step alone, and what others add", 13, bold=True)
    longest = max(max(s["iteration_us"], s["alone_us"]) for s in scenarios)
    scale = (WIDTH - LEFT - 170) / longest
    for i, scenario in enumerate(scenarios):
        y = TOP + ROW * i
        picture.text(LEFT - 8, y + 15, scenario["name"], 12, anchor="end")
        alone = min(scenario["alone_us"], scenario["iteration_us"]) * scale
        lost = max(scenario["iteration_us"] - scenario["alone_us"], 0) * scale
        picture.rect(LEFT, y, alone, ROW - 8, svg.COLORS[0])
        picture.rect(LEFT + alone, y, lost, ROW - 8, svg.COLORS[1])
        words = f"{scenario['iteration_us'] / 1000:.4g} ms, {round(100 * scenario['lost_to_others'], 1) + 0.0:.1f} % lost"
        picture.text(LEFT + alone + lost + 6, y + 15, words, 12, svg.FAINT)
    y = TOP + ROW * len(scenarios) + 6
    for place, (color, words) in enumerate([(svg.COLORS[0], "alone"), (svg.COLORS[1], "lost to others")]):
        picture.rect(LEFT + 110 * place, y, 12, 12, color)
        picture.text(LEFT + 110 * place + 18, y + 10, words, 11, svg.FAINT)
    return str(picture)
