# SPDX-License-Identifier: Apache-2.0
"""What to expect by machine, by size and by kind of question, from validation/data/residuals.csv."""
import collections
import csv
import math
import statistics

import svg

KINDS = {
    "kernel": "kernels alone: products and attention on prompts",
    "overlap": "kernels beside collectives: the share of time that they lose",
    "step": "training steps of a network and a plan",
    "change": "changes of the device set",
}
FIRST, LAST = 10, 34  # powers of two of the chart's sizes: 1 KiB to 16 GiB
LEFT, TOP, WIDTH, HEIGHT, HIGHEST = 60, 40, 420, 220, 0.6


def read(path):
    with path.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    for row in rows:
        # The simulated time over the measured one, less one.
        row["error"] = math.exp(-float(row["log_ratio"])) - 1
    return rows


def part(errors, share):
    """The value below which this share of the errors lies, between two of them in proportion."""
    at = share * (len(errors) - 1)
    low = math.floor(at)
    high = min(low + 1, len(errors) - 1)
    return errors[low] + (at - low) * (errors[high] - errors[low])


def percent(value):
    return f"{100 * value:+.0f} %"


def nine_of_ten(rows):
    errors = sorted(r["error"] for r in rows)
    return f"{percent(part(errors, 0.5))} | {percent(part(errors, 0.05))} to {percent(part(errors, 0.95))}"


def unseen(rows):
    return sum(r["standing"] != "fitted" for r in rows)


def machines(rows):
    """A line a system with collectives, those with most rows first."""
    of = collections.defaultdict(list)
    for row in rows:
        if row["kind"] == "collective":
            of[row["machine"]].append(row)
    lines = ["| system | rows | not fitted | median, below 1 MiB | nine of ten | median, from 1 MiB on | nine of ten |",
             "|---|---|---|---|---|---|---|"]
    for machine, its in sorted(of.items(), key=lambda item: (-len(item[1]), item[0])):
        small = [r for r in its if float(r["bytes"]) < 1 << 20]
        large = [r for r in its if float(r["bytes"]) >= 1 << 20]
        lines.append(f"| `{machine}` | {len(its)} | {unseen(its)} | " +
                     " | ".join(nine_of_ten(some) if some else " | " for some in (small, large)) + " |")
    return lines


def kinds(rows):
    lines = ["| what is asked | rows | not fitted | machines | median error | nine of ten |", "|---|---|---|---|---|---|"]
    for kind, words in KINDS.items():
        its = [r for r in rows if r["kind"] == kind]
        if its:
            lines.append(f"| {words} | {len(its)} | {unseen(its)} | {len({r['machine'] for r in its})} | {nine_of_ten(its)} |")
    return lines


def bands(rows):
    """The absolute errors by power of four of the message."""
    of = collections.defaultdict(list)
    for row in rows:
        exponent = int(math.log2(max(float(row["bytes"]), 1)))
        of[min(max(exponent // 2 * 2, FIRST), LAST)].append(abs(row["error"]))
    return {at: errors for at, errors in sorted(of.items()) if len(errors) >= 5}


def size_words(exponent):
    unit, power = [(u, p) for u, p in (("KiB", 10), ("MiB", 20), ("GiB", 30)) if exponent >= p][-1]
    return f"{2 ** (exponent - power)} {unit}"


def picture(rows):
    """Median error by size of each operation; faint: nine of ten errors are smaller."""
    image = svg.Svg(LEFT + WIDTH + 200, TOP + HEIGHT + 55, "error of simulated collectives by size of the message")

    def place(exponent, error):
        return (LEFT + WIDTH * (exponent - FIRST) / (LAST - FIRST),
                TOP + HEIGHT * (1 - min(error, HIGHEST) / HIGHEST))

    image.text(12, 20, "errors of simulated times of collectives", 13, bold=True)
    for step in range(0, 7):
        x, y = place(FIRST, step / 10)
        image.line([(x, y), (x + WIDTH, y)], svg.LINE)
        image.text(x - 6, y + 4, f"{'>= ' if step == 6 else ''}{10 * step} %", 10, svg.FAINT, "end")
    for exponent in range(FIRST, LAST + 1, 4):
        x, y = place(exponent, 0)
        image.text(x, y + 15, size_words(exponent), 10, svg.FAINT, "middle")
    image.text(LEFT + WIDTH / 2, TOP + HEIGHT + 36, "size of the message", 11, svg.FAINT, "middle")
    counts = collections.Counter(r["operation"] for r in rows if r["kind"] == "collective")
    for i, (operation, _) in enumerate(counts.most_common(4)):
        color = svg.COLORS[i]
        its = bands([r for r in rows if r["kind"] == "collective" and r["operation"] == operation])
        image.line([place(at, statistics.median(errors)) for at, errors in its.items()], color, 2)
        image.line([place(at, part(sorted(errors), 0.9)) for at, errors in its.items()], color, 1, dash="2 3")
        image.rect(LEFT + WIDTH + 20, TOP + 20 * i, 11, 11, color)
        image.text(LEFT + WIDTH + 37, TOP + 10 + 20 * i, operation.replace("_", "-"), 11, svg.FAINT)
    image.text(LEFT + WIDTH + 20, TOP + 100, "solid: half of the errors are smaller", 10, svg.FAINT)
    image.text(LEFT + WIDTH + 20, TOP + 115, "dotted: nine of ten are smaller", 10, svg.FAINT)
    return str(image)
