# SPDX-License-Identifier: Apache-2.0
"""The tables that each suite of `switchfold validate --json` becomes. Errors are simulated over measured, less one; means
are of absolute errors, in percent."""
import csv
import dataclasses
import io
import re
import statistics
import textwrap
from collections import Counter


@dataclasses.dataclass
class Table:
    name: str
    says: str  # what a row is
    header: list
    rows: list

    def csv(self):
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow(self.header)
        out.writerows(self.rows)
        return text.getvalue()


class Found:
    """The tables of a suite, and what is said above them."""

    def __init__(self):
        self.said, self.tables = [], []

    def say(self, sentence):
        self.said.append(sentence)

    def add(self, name, says, header, rows):
        if rows:
            self.tables.append(Table(name, says, header, rows))

    def lines(self):
        links = []
        for table in self.tables:
            link, says = f"- [{table.name}.csv](../accuracy/{table.name}.csv):", f"{table.says}, {len(table.rows)} rows."
            links += [f"{link} {says}"] if len(link) + len(says) < 100 else [link, f"  {says}"]
        said = [line for sentence in self.said for line in textwrap.wrap(sentence, 100)]
        return said + ([""] if said and links else []) + links


def number(value):
    return f"{value:.1f}"


def mean(cases):
    return number(100 * statistics.mean(abs(c["error"]) for c in cases)) if cases else ""


def span(cases):
    errors = sorted(c["error"] for c in cases)
    return [number(100 * errors[0]), number(100 * errors[-1])]


def groups(cases, of=lambda c: c["group"]):
    """The cases by group, in the order in which groups first come."""
    found = {}
    for case in cases:
        found.setdefault(of(case), []).append(case)
    return found


def standings(suite):
    return {(v["group"], v["quantity"]): v["standing"] for v in suite["verdicts"] if "group" in v}


def standing(suite, cases):
    """What the rows of a group had to do with the model."""
    one = cases[0]
    return "fitted" if one["fitted"] else standings(suite).get((one["group"], one["quantity"]), "")


def left_out(suite, out):
    """A table of what could not be compared, by reason."""
    # Of a file, its name in the folder of measurements.
    missing = Counter(re.sub(r"\S*/(?=(traces|models|reference)/)", "", u["why"]) for u in suite["unmatched"])
    out.add(f"{suite['name']}_not_compared", "what is not compared, and why", ["rows", "why"],
            [[rows, why] for why, rows in missing.most_common()])


def size_of(case):
    size = case["id"].split("/")[1]
    return int(size) if size.isdigit() else 1 << 33  # a peak bandwidth without a size


def by_band(cases, bands, of):
    return [mean([c for c in cases if low <= of(c) < high]) for _, low, high in bands]


SIZES = [("below_64KiB", 0, 1 << 16), ("to_1MiB", 1 << 16, 1 << 20), ("to_32MiB", 1 << 20, 1 << 25),
         ("to_512MiB", 1 << 25, 1 << 29), ("from_512MiB", 1 << 29, 1 << 62)]


def operation_of(case):
    return (case.get("like") or {}).get("operation", "all_reduce")


def collectives(suite, out):
    times = [c for c in suite["cases"] if c["quantity"] != "bandwidth ratio"]
    tables = groups(times)
    large = [c for c in times if size_of(c) >= 1 << 20]
    small = [c for c in times if size_of(c) < 1 << 20]
    out.say(f"{len(times)} rows of {len(tables)} tables. Mean absolute error from 1 MiB on {mean(large)} %, below "
            f"{mean(small)} %.")
    bands = [name for name, _, _ in SIZES]
    out.add("collectives_by_operation", "mean error of each operation by size", ["operation", "rows", "all", *bands],
            [[operation, len(cases), mean(cases), *by_band(cases, SIZES, size_of)]
             for operation, cases in groups(times, operation_of).items()])
    out.add("collectives", "mean error of each measured table by size", ["table", "operation", "standing", "rows", "all", *bands],
            [[table, operation_of(cases[0]), standing(suite, cases), len(cases), mean(cases), *by_band(cases, SIZES, size_of)]
             for table, cases in tables.items()])
    out.add("collectives_in_switch_over_ring", "bandwidth in the switch over that of a ring",
            ["case", "measured", "simulated", "error"],
            [[c["id"], f"{c['measured']:.3f}", f"{c['simulated']:.3f}", number(100 * c["error"])]
             for c in suite["cases"] if c["quantity"] == "bandwidth ratio"])


def replay(suite, out):
    out.add("replay", "a trace's iteration in milliseconds", ["trace", "measured_ms", "simulated_ms", "error"],
            [[c["id"], f"{c['measured'] / 1000:.2f}", f"{c['simulated'] / 1000:.2f}", number(100 * c["error"])]
             for c in suite["cases"]])


def step(suite, out):
    def bound(value):
        return "" if value is None else f"{value:.4g}"
    out.add("whole_steps", "a figure of a traced step, with the interval that holds 95 % of its steps",
            ["trace", "quantity", "unit", "measured", "from", "to", "simulated", "error"],
            [[c["id"], c["quantity"], c["unit"], bound(c["measured"]), bound(c["low"]), bound(c["high"]),
              bound(c["simulated"]), number(100 * c["error"])] for c in suite["cases"]])


TOKENS = [("to_32_tokens", 1, 33), ("to_256", 33, 257), ("to_2048", 257, 2049), ("to_16384", 2049, 16385),
          ("from_32768", 32768, 1 << 32)]


def experts(suite, out):
    times = [c for c in suite["cases"] if c["quantity"] == "time"]
    knees = [c for c in suite["cases"] if c["quantity"] == "knee"]
    right = sum(c["measured"] == c["simulated"] for c in knees)
    unseen = [c for c in times if not c["fitted"]]
    out.say(f"{len(times)} times, mean absolute error {mean(times)} %, of those that nothing was fitted on {mean(unseen)} %. "
            f"Knees, the fewest SMs within 10 % of the best time: {right} of {len(knees)} curves from 1,024 tokens on have "
            "the measured one.")
    out.add("experts", "mean error of each table by tokens", ["table", "standing", "rows", "all", *(t[0] for t in TOKENS)],
            [[table, standing(suite, cases), len(cases), mean(cases), *by_band(cases, TOKENS, size_of)]
             for table, cases in groups(times).items()])
    out.add("experts_knees", "a knee that is not the measured one", ["curve", "measured_SMs", "simulated_SMs"],
            [[c["id"], f"{c['measured']:.0f}", f"{c['simulated']:.0f}"] for c in knees if c["measured"] != c["simulated"]])


def low_sm(suite, out):
    out.say(f"{len(suite['cases'])} rows, mean absolute error {mean(suite['cases'])} %.")
    rows = []
    for table, cases in groups(suite["cases"]).items():
        by_size = sorted(cases, key=size_of)
        rows.append([table, standing(suite, cases), len(cases), mean(cases), size_of(by_size[0]), size_of(by_size[-1]),
                     number(100 * by_size[0]["error"]), number(100 * by_size[-1]["error"])])
    out.add("low_sm", "mean error of each table",
            ["table", "standing", "rows", "all", "smallest_bytes", "largest_bytes", "at_smallest", "at_largest"], rows)


TIMES = ["under 10 us", "10 to 100 us", "over 100 us"]


def kernels(suite, out):
    def plain(case):
        return case["group"].removesuffix(", fitted half")
    ratios = [c for c in suite["cases"] if c["quantity"] == "ratio of times"]
    times = [c for c in suite["cases"] if c["quantity"] != "ratio of times"]
    rows = []
    for table, cases in groups(times, lambda c: plain(c).rsplit(", ", 1)[0]).items():
        rows.append([table, len(cases), mean(cases), mean([c for c in cases if not c["fitted"]]),
                     *(mean([c for c in cases if plain(c).endswith(", " + time)]) for time in TIMES)])
    out.say(f"{len(times)} times, mean absolute error {mean(times)} %; {len(ratios)} ratios between two GPUs, {mean(ratios)} %.")
    out.add("kernels", "mean error of kernels by measured time",
            ["kernels", "rows", "all", "not_fitted", *(t.replace(" ", "_") for t in TIMES)], rows)
    out.add("kernels_ratios", "mean error of the ratio of a kernel's times on two GPUs", ["kernels", "rows", "all", "not_fitted"],
            [[group, len(cases), mean(cases), mean([c for c in cases if not c["fitted"]])]
             for group, cases in groups(ratios, plain).items()])


def with_spans(name, says, cases, out, label="group"):
    out.add(name, says, [label, "rows", "all", "from", "to"],
            [[group, len(its), mean(its), *span(its)] for group, its in groups(cases).items()])


def training(suite, out):
    def of(quantity):
        return [c for c in suite["cases"] if c["quantity"] == quantity]
    steps, held = of("time of a step"), of("memory")
    out.say(f"{len(steps)} steps, mean absolute error {mean(steps)} %." if steps else "")
    if held:
        low, high = span(held)
        out.say(f"Memory of the fullest GPU, {len(held)} rows: {mean(held)} %, from {low} to {high} %.")
    out.add("training_bubbles", "largest difference of the share of bubbles", ["schedule", "rows", "largest_difference"],
            [[group.split(", ")[1], len(cases), f"{max(abs(c['simulated'] - c['measured']) for c in cases):.4f}"]
             for group, cases in groups(of("bubble_share")).items()])
    with_spans("training_steps", "time of a step", steps, out)
    with_spans("training_speedups", "speed-up over one GPU or another method", of("speed-up"), out)


def memory(suite, out):
    with_spans("memory", "what planners, policies and published systems hold", suite["cases"], out, "rows_of")


def plans(suite, out):
    regrets = []
    for cases in groups(suite["cases"], lambda c: c["id"].split("_t")[0]).values():
        chosen = min(cases, key=lambda c: c["simulated"])
        regrets.append(chosen["measured"] / min(c["measured"] for c in cases) - 1)
    out.say(f"The plan that would be chosen is the best measured one in {sum(r == 0 for r in regrets)} of {len(regrets)} tasks; "
            f"mean regret {number(100 * statistics.mean(regrets))} %, largest {number(100 * max(regrets))} %.")
    with_spans("plans", "time of a plan's step", suite["cases"], out)


def elastic(suite, out):
    with_spans("elastic", "changes, communicators and throughput by device set", suite["cases"], out)


SUITES = {f.__name__: f for f in
          (collectives, replay, step, experts, low_sm, kernels, training, memory, plans, elastic)}


def tables(suite):
    out = Found()
    SUITES[suite["name"]](suite, out)
    left_out(suite, out)
    return out
