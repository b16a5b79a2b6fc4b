# SPDX-License-Identifier: Apache-2.0
"""The example's step as a waterfall: from serial to overlapped to in-switch, what each part adds or gives back.

The report draws the same of any run (sim/output/report/waterfall.js); a test holds both against each other."""
import json

import svg

CAUSES = {"sm": "SMs held by communication", "l2": "L2 capacity", "hbm": "memory bandwidth", "latency": "latency under load",
          "completion": "kernels' completions", "clock": "clock", "other": "kernels, other"}
PHASES = ("forward", "backward", "optimizer", "other")
HIDDEN, COPIES, REST = "exposed communication", "exposed copies", "gaps and the rest"
WIDTH, LEFT, RIGHT, TOP, ROW = 960, 250, 150, 104, 30
TOTAL, MORE, LESS = svg.COLORS[0], svg.COLORS[5], svg.COLORS[2]


def time(us, digits=4):
    if us >= 10000:
        return f"{us / 1000:.{digits}g} ms"
    return f"{us:.0f} us" if us >= 1000 else f"{us:.{digits}g} us"


def parts(alone, scenario):
    """The time that a scenario takes longer than `alone`, by part, and what is exposed."""
    found = {HIDDEN: scenario["exposed_communication_us"] or 0.0}
    for key, title in CAUSES.items():
        found[title] = sum((scenario["causes_by_phase"][phase] or {}).get(key, 0.0) * (alone[f"{phase}_us"] or 0.0)
                           for phase in PHASES)
    found[COPIES] = scenario["exposed_copies_us"] or 0.0
    return found


def steps(scenarios):
    """Rows of the waterfall: (what, None, total) of a scenario, (what, us, None) of a change between two."""
    alone = scenarios[0]
    least = 2e-4 * alone["iteration_us"]
    rows = [(alone["name"], None, alone["iteration_us"])]
    before, at = parts(alone, alone), alone["iteration_us"]
    for scenario in scenarios[1:]:
        now = parts(alone, scenario)
        changes = [(what, now[what] - before[what]) for what in now]
        rest = scenario["iteration_us"] - at - sum(us for _, us in changes)
        small = 0.0
        for what, us in [*changes, (REST, rest)]:
            if abs(us) < least:
                small += us
            else:
                rows.append((what, us, None))
        if abs(small) >= least / 4:
            rows.append(("smaller ones", small, None))
        rows.append((scenario["name"], None, scenario["iteration_us"]))
        before, at = now, scenario["iteration_us"]
    return rows


def whisker(picture, place, y, interval, end):
    """A line between two times, cut with an arrow where the axis ends."""
    low, high = max(place(interval["low"]), LEFT + 4), min(place(interval["high"]), end)
    picture.line([(low, y), (high, y)], svg.INK, 1.3)
    for us, x, turn in ((interval["low"], low, 1), (interval["high"], high, -1)):
        if abs(place(us) - x) < 0.5:
            picture.line([(x, y - 5), (x, y + 5)], svg.INK, 1.3)
        else:
            picture.line([(x + 5 * turn, y - 4), (x, y), (x + 5 * turn, y + 4)], svg.INK, 1.3)


def against(alone, scenario):
    """Where 90 % of such steps lie if the one without overlap takes what it takes here: speed-ups are known better than times."""
    interval = (scenario["intervals"] or {}).get("speedup")
    if scenario is alone or not interval or interval["low"] is None:
        return None
    return {"low": alone["iteration_us"] / interval["high"], "high": alone["iteration_us"] / interval["low"]}


def tick_step(span):
    """The smallest of 1, 2 and 5 times a power of ten that gives a dozen ticks at most."""
    return next(step * 10**power for power in range(12) for step in (1, 2, 5) if step * 10**power * 12 >= span)


def draw(run, title=None):
    """`title` stands in for the README's."""
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    scenarios = result["scenarios"]
    rows = steps(scenarios)
    ends, at = [], 0.0
    for _, us, total in rows:
        at = total if us is None else at + us
        ends.append(at)
    span = max(ends) - min(ends)
    begin, end = min(ends) - 0.4 * span, max(ends) + 0.05 * span
    place = lambda us: LEFT + (us - begin) / (end - begin) * (WIDTH - LEFT - RIGHT)
    picture = svg.Svg(WIDTH, TOP + ROW * len(rows) + 40, "A step from serial to overlapped to in-switch")
    picture.text(20, 30, title or f"A training step of ResNet-50 on {result['workload']['ranks']} H100: what overlap costs, and what the "
                 "switch gives back", 17, bold=True)
    x = 20
    for color, words in ((TOTAL, "a step"), (MORE, "takes longer"), (LESS, "takes less")):
        picture.rect(x, 48, 12, 12, color)
        picture.text(x + 18, 59, words, 12, svg.FAINT)
        x += 42 + 7 * len(words)
    picture.text(x, 59, "whisker: where 90 % of such steps lie against this serial one", 12, svg.FAINT)
    bottom = TOP + ROW * len(rows)
    step = tick_step(end - begin)
    digits = 1 if step >= 100 else 3
    for tick in range(int(begin / step + 1) * step, int(end) + 1, step):
        picture.line([(place(tick), TOP - 8), (place(tick), bottom)], svg.LINE)
        picture.text(place(tick), bottom + 16, f"{tick / 1000:.{digits}f}", 11, svg.FAINT, "middle")
    picture.text(place(end), bottom + 33, "time of a step (ms); the axis does not begin at 0", 11, svg.FAINT, "end")
    before, intervals = None, {s["name"]: against(scenarios[0], s) for s in scenarios}
    for i, ((what, us, total), to) in enumerate(zip(rows, ends)):
        y = TOP + ROW * i
        start = begin if us is None else before
        left, right = sorted((place(start), place(to)))
        picture.text(LEFT - 10, y + 15, what, 12.5, anchor="end", bold=us is None)
        picture.rect(left, y, max(right - left, 1), ROW - 9, TOTAL if us is None else MORE if us > 0 else LESS)
        if us is None and intervals.get(what):
            whisker(picture, place, y + (ROW - 9) / 2, intervals[what], place(end))
            right = max(right, min(place(intervals[what]["high"]), place(end)))
        words = time(total) if us is None else f"{'+' if us > 0 else '−'}{time(abs(us), 3)}"
        picture.text(right + 8, y + 15, words, 12.5, bold=us is None)
        if i + 1 < len(rows):
            picture.line([(place(to), y + ROW - 9), (place(to), y + ROW)], svg.FAINT, 1, "2 2")
        before = to
    return str(picture)
