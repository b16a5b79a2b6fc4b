# SPDX-License-Identifier: Apache-2.0
"""Steps with host copies: the part of each scenario's iteration that kernels do not hide."""
import svg

PARTS = {"kernels and what they hide": svg.COLORS[0], "collectives alone": svg.COLORS[1],
         "copies without a kernel": svg.COLORS[2]}
WIDTH, LEFT, ROW, TOP = 620, 220, 30, 44


def parts_of(scenario):
    copies = scenario["exposed_copies_us"] or 0
    collectives = scenario["exposed_communication_us"]
    return [max(0, scenario["iteration_us"] - copies - collectives), collectives, copies]


def draw(result):
    scenarios = result["scenarios"]
    picture = svg.Svg(WIDTH, TOP + ROW * len(scenarios) + 34, result["experiment"])
    picture.text(12, 24, "time of a step", 13, bold=True)
    longest = max(s["iteration_us"] for s in scenarios)
    for i, scenario in enumerate(scenarios):
        y = TOP + ROW * i
        x = LEFT
        picture.text(LEFT - 8, y + 16, scenario["name"], 12, anchor="end")
        for part, color in zip(parts_of(scenario), PARTS.values()):
            length = part / longest * (WIDTH - LEFT - 90)
            picture.rect(x, y, length, ROW - 8, color)
            x += length
        picture.text(x + 6, y + 16, f"{scenario['iteration_us'] / 1000:.4g} ms", 12, svg.FAINT)
    bottom = TOP + ROW * len(scenarios)
    x = 12
    for name, color in PARTS.items():
        picture.rect(x, bottom + 10, 11, 11, color)
        picture.text(x + 16, bottom + 20, name, 11, svg.FAINT)
        x += 30 + 6.6 * len(name)
    return str(picture)
