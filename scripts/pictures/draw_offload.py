# SPDX-License-Identifier: Apache-2.0
"""A run on a many-core coprocessor or its host: the parts of each scenario's step, and its speed-up."""
import svg

PARTS = {"forward_us": "forward", "backward_us": "backward", "optimizer_us": "update", "exposed_copies_us": "bare transfers"}
WIDTH, LEFT, ROW, TOP = 580, 150, 26, 44


def draw(result):
    scenarios = result["scenarios"]
    picture = svg.Svg(WIDTH, TOP + ROW * len(scenarios) + 34, result["experiment"])
    first = next((s["name"] for s in scenarios if not s["overlap"]), None)
    words = f", and speed-up over {first}" if first else ""
    picture.text(12, 24, f"time of a step{words}", 13, bold=True)
    longest = max(s["iteration_us"] for s in scenarios)
    for i, scenario in enumerate(scenarios):
        y = TOP + ROW * i
        picture.text(LEFT - 8, y + 15, scenario["name"], 12, anchor="end")
        x = LEFT
        for part, color in zip(PARTS, svg.COLORS):
            length = (scenario[part] or 0) / longest * (WIDTH - LEFT - 130)
            picture.rect(x, y, length, ROW - 7, color)
            x += length
        words = f"{scenario['iteration_us'] / 1000:.4g} ms"
        if scenario["speedup"] is not None:
            words += f", {scenario['speedup']:.2f}x"
        picture.text(x + 6, y + 15, words, 12, svg.FAINT)
    x, y = 12, TOP + ROW * len(scenarios) + 10
    for part, color in zip(PARTS.values(), svg.COLORS):
        picture.rect(x, y, 11, 11, color)
        picture.text(x + 16, y + 10, part, 11, svg.FAINT)
        x += 34 + 6.6 * len(part)
    return str(picture)
