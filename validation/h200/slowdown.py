# SPDX-License-Identifier: Apache-2.0
"""Slowdown of each kernel of a backward pass beside a memory mover.

Needs neither GPU nor PyTorch: a run is a list of kernels, {"name", "grid", "block", "registers",
"shared_bytes", "us"}, in the order of their launches.
"""
import collections
import statistics


def shape_of(kernel):
    return (kernel["name"], tuple(kernel["grid"]), tuple(kernel["block"]))


def identity(kernel):
    return (
        kernel["name"],
        tuple(kernel["grid"]),
        tuple(kernel["block"]),
        kernel["registers"],
        kernel["shared_bytes"],
    )


def numbered(run):
    """Numbers each kernel among those of the same identity: {(identity, ordinal): us}."""
    seen = collections.Counter()
    times = {}
    for kernel in run:
        key = identity(kernel)
        times[(key, seen[key])] = kernel["us"]
        seen[key] += 1
    return times


def medians(runs):
    """Median time of each kernel that ran in every pass, and the number of the other kernels."""
    passes = [numbered(run) for run in runs]
    common = set(passes[0]).intersection(*passes[1:])
    everything = set().union(*passes)
    return (
        {key: statistics.median(p[key] for p in passes) for key in common},
        len(everything) - len(common),
    )


class Kernels:
    """The kernels of the passes without a mover, numbered by identity; each has its ordinals."""

    def __init__(self, runs, least_us):
        self.alone, self.unsteady = medians(runs)
        self.order = sorted({key for key, _ in self.alone})
        self.places = collections.defaultdict(list)
        for key, ordinal in sorted(self.alone):
            # Launch latency and clock resolution dominate the times of shorter kernels.
            if self.alone[(key, ordinal)] >= least_us:
                self.places[key].append(ordinal)
        self.order = [key for key in self.order if self.places[key]]

    def table(self):
        rows = []
        for key in self.order:
            name, grid, block, registers, shared = key
            rows.append(
                {
                    "name": name,
                    "grid": list(grid),
                    "block": list(block),
                    "registers": registers,
                    "shared_bytes": shared,
                    "alone_us": statistics.mean(
                        self.alone[(key, ordinal)] for ordinal in self.places[key]
                    ),
                    "places": len(self.places[key]),
                }
            )
        return rows

    def beside(self, runs):
        """Mean time of each kernel beside the mover, with the range over the passes."""
        passes = [numbered(run) for run in runs]
        rows = []
        for number, key in enumerate(self.order):
            means = []
            for times in passes:
                us = [times.get((key, ordinal)) for ordinal in self.places[key]]
                if None not in us:
                    means.append(statistics.mean(us))
            if means:
                rows.append(
                    {
                        "kernel": number,
                        "us": statistics.median(means),
                        "low_us": min(means),
                        "high_us": max(means),
                        "passes": len(means),
                    }
                )
        return rows


def total_slowdown(table, rows):
    """Slowdown of all kernels together, weighted by their time."""
    alone = sum(table[row["kernel"]]["alone_us"] * table[row["kernel"]]["places"] for row in rows)
    beside = sum(row["us"] * table[row["kernel"]]["places"] for row in rows)
    return beside / alone if alone else None
