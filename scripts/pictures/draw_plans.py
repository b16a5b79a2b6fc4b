# SPDX-License-Identifier: Apache-2.0
"""The best plans of a search: step time without contention, what contention adds, and the proven bound."""
import svg

WIDTH, LEFT, ROW, TOP = 860, 470, 30, 44
PARTS = {"with overlap for free": svg.COLORS[0], "what contention adds": svg.COLORS[1]}


def draw(answer):
    plans = answer["best"]
    picture = svg.Svg(WIDTH, TOP + ROW * len(plans) + 34, answer["experiment"])
    picture.text(12, 24, f"{answer['global_batch']} samples on {answer['gpus']} GPUs of {answer['system']}: time of a step",
                 13, bold=True)
    longest = max(plan["step_s"] for plan in plans)
    scale = (WIDTH - LEFT - 90) / longest
    for i, plan in enumerate(plans):
        y = TOP + ROW * i
        free = plan["step_without_contention_s"]
        base = plan["step_s"] if free is None else min(free, plan["step_s"])
        picture.text(LEFT - 8, y + 16, plan["name"], 11, anchor="end")
        picture.rect(LEFT, y, base * scale, ROW - 8, PARTS["with overlap for free"] if free is not None else svg.FAINT)
        picture.rect(LEFT + base * scale, y, (plan["step_s"] - base) * scale, ROW - 8, PARTS["what contention adds"])
        bound = LEFT + plan["bound_s"] * scale
        picture.line([(bound, y - 2), (bound, y + ROW - 6)], svg.INK, 2)
        picture.text(LEFT + plan["step_s"] * scale + 6, y + 16, f"{plan['step_s'] * 1e3:.4g} ms", 12, svg.FAINT)
    bottom = TOP + ROW * len(plans)
    x = 12
    for name, color in PARTS.items():
        picture.rect(x, bottom + 10, 11, 11, color)
        picture.text(x + 16, bottom + 20, name, 11, svg.FAINT)
        x += 30 + 6.6 * len(name)
    picture.line([(x + 4, bottom + 8), (x + 4, bottom + 22)], svg.INK, 2)
    picture.text(x + 12, bottom + 20, "the bound", 11, svg.FAINT)
    return str(picture)
