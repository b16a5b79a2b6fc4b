# SPDX-License-Identifier: Apache-2.0
"""A sweep's results as lines over its numeric axis, one line per value of a second axis and one panel per value of a
third. Of collectives the gain over the ring, as in the report: on an axis of bandwidths all small sizes lie on the ground."""
import math
import sqlite3

import svg

HEIGHT, LEFT, TOP, LEGEND = 170, 46, 52, 26
METRICS = {
    "bus_bandwidth_GBps": ("bus bandwidth (GB/s)", 1),
    "run_training": ("share of the time that trains what counts (%)", 100),
    "run_samples_per_s": ("goodput (1,000 samples a second)", 1e-3),
    "backward_slowdown": ("slowdown of the backward pass (%)", 100),
    "speedup": ("speed-up over the first scenario", 1),
    "iteration_us": ("time of a step (us)", 1),
}
BASE = "ring"


def read(folder):
    """Returns the axes with more than one value (name, unit, labels), and the last scenario's rows as dicts."""
    with sqlite3.connect(f"file:{folder / 'sweep.db'}?mode=rw", uri=True) as database:
        database.row_factory = sqlite3.Row
        axes = [{"name": name, "unit": unit, "labels": [row[0] for row in database.execute(
            "SELECT label FROM axis_values WHERE axis = ? ORDER BY position", (axis,))]}
            for axis, name, unit in database.execute("SELECT axis, name, unit FROM axes ORDER BY axis")]
        rows = [dict(row) for row in database.execute("SELECT * FROM results WHERE status = 'done'")]
    last = rows[-1]["scenario"]
    return [a for a in axes if len(a["labels"]) > 1], [row for row in rows if row["scenario"] == last]


def label(number, unit, digits=4):
    if unit == "us" and number >= 1e6:
        return svg.duration(number / 1e6)
    if unit != "B":
        return svg.tick(number)
    power = min(int(math.log(max(number, 1), 1024)), 4)
    return f"{number / 1024**power:.{digits}g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def short(text):
    return text.rsplit("/", 1)[-1].removesuffix(".json")


def ceiling(value):
    """Rounds up to 1, 2, 3, 4, 5, 6, 8 or 10 times a power of ten."""
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * 0.999)


class Panels:
    def __init__(self, folder):
        axes, self.rows = read(folder)
        self.metric = next(metric for metric in METRICS if any(row[metric] for row in self.rows))
        numeric = [a for a in axes if a["unit"] is not None]
        self.x = min(numeric, key=lambda a: (a["unit"] != "B", -len(a["labels"])), default=axes[0])
        others = [a for a in axes if a is not self.x]
        self.series = next((a for a in others if a["name"] == "algorithm"), others[-1])
        rest = [a for a in others if a is not self.series]
        self.facets = rest[0]["labels"] if rest else [None]
        self.facet = rest[0]["name"] if rest else None
        self.gains = (self.metric == "bus_bandwidth_GBps" and self.x["unit"] == "B" and self.series["name"] == "algorithm"
                      and BASE in self.series["labels"])
        if self.gains:
            self.take_gains()
        self.width = 250 if len(self.facets) > 1 else 490
        self.factor = METRICS[self.metric][1]
        self.most = ceiling(max(self.value(row) for row in self.rows))
        if self.gains:
            self.most = math.ceil(max(self.value(row) for row in self.rows) * 2) / 2
        # Shares near 100 % are drawn without the empty lower part of the axis.
        low = min(self.value(row) for row in self.rows)
        self.least = 20 * math.floor(low / 20) if self.metric == "run_training" else 0
        self.tenfold = 0
        if self.metric == "iteration_us":
            self.tenfold = math.ceil(math.log10(self.most / low))

    def take_gains(self):
        """Rows that the base has too, with their gain over it."""
        def key(row):
            return row[self.x["name"]], self.facet and row[self.facet]
        base = {key(row): row["time_us"] for row in self.rows if row["algorithm"] == BASE}
        self.rows = [dict(row, gain=base[key(row)] / row["time_us"]) for row in self.rows if key(row) in base and row["time_us"]]

    def crossover(self, points):
        """Where the last of points (place, gain) that are not ahead is left behind; nothing if there is none."""
        behind = [i for i, (_, gain) in enumerate(points) if gain <= 1]
        if not behind or behind[-1] + 1 == len(points):
            return None
        (x0, g0), (x1, g1) = points[behind[-1]], points[behind[-1] + 1]
        return x0 + (x1 - x0) * math.log(1 / g0) / math.log(g1 / g0)

    def size_at(self, place):
        """The number at a place of the x axis."""
        numbers = [row[self.x["name"] + "_number"] for row in self.rows]
        low, high = math.log(min(numbers)), math.log(max(numbers))
        return math.exp(low + place * (high - low))

    def value(self, row):
        if self.gains:
            return row["gain"]
        return (row[self.metric] or 0) * self.factor

    def rise(self, value):
        """Height from 0 to 1; logarithmic for times that differ widely."""
        if self.tenfold <= 1:
            return (value - self.least) / (self.most - self.least)
        return 1 + math.log10(value / self.most) / self.tenfold

    def ticks(self):
        if self.gains:
            return [i / 2 for i in range(round(2 * self.most) + 1)]
        if self.tenfold <= 1:
            return [self.least + (self.most - self.least) * i / 4 for i in range(5)]
        return [self.most / 10**i for i in range(self.tenfold + 1)]

    def part(self, facet):
        return [row for row in self.rows if facet is None or row[self.facet] == facet]

    def place(self, row):
        """Place from 0 to 1 along the x axis: logarithmic for numbers, by position for words."""
        labels = self.x["labels"]
        if self.x["unit"] is None:
            return (labels.index(row[self.x["name"]]) + 0.5) / len(labels)
        column = self.x["name"] + "_number"
        numbers = [r[column] for r in self.rows]
        low, high = math.log(min(numbers)), math.log(max(numbers))
        return (math.log(row[column]) - low) / (high - low)

    def draw_panel(self, picture, left, top, facet):
        rows = self.part(facet)
        bottom = top + HEIGHT
        if self.gains:
            y = bottom - HEIGHT * self.rise(1)
            picture.line([(left, y), (left + self.width, y)], svg.FAINT, 1.2, "5 3")
        for value in self.ticks():
            y = bottom - HEIGHT * self.rise(value)
            picture.line([(left, y), (left + self.width, y)], svg.LINE)
            picture.text(left - 6, y + 4, f"{value:g}", 10, svg.FAINT, "end")
        if facet is not None:
            picture.text(left, top - 8, f"{self.facet} {short(facet)}", 11, bold=True)
        if self.x["unit"] is None:
            ticks = [((i + 0.5) / len(self.x["labels"]), short(words)) for i, words in enumerate(self.x["labels"])]
        else:
            column = self.x["name"] + "_number"
            by_place = sorted({(self.place(row), row[column]) for row in rows})
            step = max(1, (len(by_place) - 1) // 4)
            ticks = [(at, label(number, self.x["unit"])) for at, number in by_place[::step]]
        for at, words in ticks:
            picture.text(left + at * self.width, bottom + 15, words, 10, svg.FAINT, "middle")
        for i, name in enumerate(self.series["labels"]):
            points = sorted((self.place(row), self.value(row)) for row in rows if row[self.series["name"]] == name)
            gains = points
            points = [(left + at * self.width, bottom - self.rise(value) * HEIGHT) for at, value in points]
            color = svg.COLORS[i % len(svg.COLORS)]
            if self.x["unit"] is not None:
                picture.line(points, color, 1.6)
            crossing = self.crossover(gains) if self.gains and name not in (BASE, "auto") else None
            if crossing is not None:
                x, y = left + crossing * self.width, bottom - self.rise(1) * HEIGHT
                picture.polygon([(x - 6, y), (x, y - 6), (x + 6, y), (x, y + 6)], color, svg.INK)
                number = self.size_at(crossing)
                picture.text(x + 4, y + 16, label(number, "B", 3), 10, bold=True)
            for x, y in points:
                picture.circle(x, y, 2 if self.x["unit"] is not None else 4, color)


def draw(folder):
    panels = Panels(folder)
    columns = min(3, len(panels.facets))
    lines = math.ceil(len(panels.facets) / columns)
    across, down = panels.width + LEFT + 14, HEIGHT + 46
    picture = svg.Svg(max(across * columns + 20, 560), TOP + down * lines + LEGEND, folder.name)
    title, _ = METRICS[panels.metric] if not panels.gains else (f"gain over {BASE}, and from where on it lasts,", 1)
    # Bytes and long times have their unit on the axis.
    numbers = [row[panels.x["name"] + "_number"] for row in panels.rows] if panels.x["unit"] == "us" else []
    unit = f" ({panels.x['unit']})" if panels.x["unit"] not in (None, "", "B") and max(numbers, default=0) < 1e6 else ""
    picture.text(12, 22, f"{title} by {panels.x['name']}{unit}", 13, bold=True)
    for i, facet in enumerate(panels.facets):
        panels.draw_panel(picture, LEFT + across * (i % columns), TOP + down * (i // columns), facet)
    x, y = 12, TOP + down * lines + 4
    picture.text(x, y + 10, panels.series["name"] + ":", 11, svg.FAINT)
    x += 24 + 6.6 * len(panels.series["name"])
    for i, name in enumerate(panels.series["labels"]):
        picture.rect(x, y, 11, 11, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 16, y + 10, short(name), 11, svg.FAINT)
        x += 34 + 6.6 * len(short(name))
    return str(picture)
