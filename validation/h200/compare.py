# SPDX-License-Identifier: Apache-2.0
"""Compares two traces of the same steps kernel by kernel.

Both are in switchfold's own format as plain lines (docs/traces.md#our-own-format), so the comparison covers
the readers as well as the profilers. Needs neither GPU nor PyTorch.
"""
import collections
import difflib
import json
import statistics

SHAPE = ("grid", "block", "registers_per_thread", "shared_memory_bytes")


def read_kernels(path):
    """The kernels of a trace's first rank, in launch order."""
    names = []
    kernels = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["type"] == "name":
                names.append(record["text"])
            elif record["type"] == "kernel":
                kernels.append(record | {"name": names[record["name"]]})
    return kernels


def per_step(kernels):
    steps = collections.defaultdict(list)
    for kernel in kernels:
        steps[kernel.get("step", 0)].append(kernel)
    return steps


def pair(ours, theirs):
    """Pairs kernels of the same name in order; also returns the unpaired ones."""
    matcher = difflib.SequenceMatcher(
        a=[k["name"] for k in ours], b=[k["name"] for k in theirs], autojunk=False
    )
    pairs = []
    for block in matcher.get_matching_blocks():
        pairs += zip(
            ours[block.a : block.a + block.size], theirs[block.b : block.b + block.size]
        )
    return pairs, len(ours) - len(pairs), len(theirs) - len(pairs)


def compare(ours, theirs):
    """Summarises how many kernels of two lists agree in name, shape, phase and time."""
    pairs = []
    only_ours = only_theirs = 0
    our_steps, their_steps = per_step(ours), per_step(theirs)
    for step in sorted(set(our_steps) | set(their_steps)):
        matched, a, b = pair(our_steps.get(step, []), their_steps.get(step, []))
        pairs += matched
        only_ours += a
        only_theirs += b
    ratios = sorted(
        a["duration_ps"] / b["duration_ps"]
        for a, b in pairs
        if a.get("duration_ps") and b.get("duration_ps")
    )
    return {
        "kernels_ours": len(ours),
        "kernels_theirs": len(theirs),
        "paired": len(pairs),
        "only_ours": only_ours,
        "only_theirs": only_theirs,
        "same_shape": sum(all(a.get(k) == b.get(k) for k in SHAPE) for a, b in pairs),
        "same_phase": sum(a.get("phase") == b.get("phase") for a, b in pairs),
        "total_us_ours": sum(k.get("duration_ps", 0) for k in ours) / 1e6,
        "total_us_theirs": sum(k.get("duration_ps", 0) for k in theirs) / 1e6,
        "duration_ratio": quantiles(ratios),
    }


def quantiles(values):
    """5 %, median and 95 % of sorted values."""
    if not values:
        return None
    at = lambda share: values[round(share * (len(values) - 1))]
    return {"low": at(0.05), "median": statistics.median(values), "high": at(0.95)}


def counted_bytes(kernels):
    """Mean DRAM bytes per kernel as counted by a second pass, by name, grid and block."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for kernel in kernels:
        if kernel.get("bytes_from") == "counters":
            key = (kernel["name"], tuple(kernel["grid"]), tuple(kernel["block"]))
            total = sums[key]
            total[0] += kernel.get("bytes_read", 0)
            total[1] += kernel.get("bytes_written", 0)
            total[2] += 1
    return {
        key: {"bytes_read": read // count, "bytes_written": written // count}
        for key, (read, written, count) in sums.items()
    }
