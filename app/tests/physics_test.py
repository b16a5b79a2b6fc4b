#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What nature says about machines whose knobs are turned: no monotone quantity goes the wrong way by more than 1 %,
closed forms hold, and what must not matter does not.

usage: physics_test.py SWITCHFOLD SOURCE_DIRECTORY [--draws N] [--seed S] [--only WORD] [--figures]

Probes that docs/notebook/turning_knobs.md lists as not holding must fail, or leave that list; all others must hold.

--draws    random machines a property, 1 unless told; more take minutes
--seed     of the random machines
--only     the probes whose names hold WORD
--figures  prints every probe's figures
"""
import argparse
import pathlib
import re
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "physics"))
import collective_probes  # noqa: E402
import contention_probes  # noqa: E402
import drawn_probes  # noqa: E402
import host_probes  # noqa: E402
import plan_probes  # noqa: E402
from bench import Bench, Refused  # noqa: E402
from probe import show  # noqa: E402

GROUPS = (contention_probes, collective_probes, plan_probes, host_probes)


def spent():
    """Seconds of processors that the program's runs have taken."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def judge(probe, bench, figures):
    """Sentences about what is wrong with a probe."""
    start = spent()
    try:
        wrong, found = probe.wrong(bench)
    except Refused as refused:
        wrong, found = [f"refused: {str(refused)[:300]}"], []
    if figures or wrong:
        print(f"{'FAILED' if wrong else 'holds '} {probe.name} ({spent() - start:.1f} s): {probe.why}")
        for value, figure in zip(probe.values, found):
            print(f"           {value}: {show(figure)}")
    for said in wrong:
        print(f"    wrong: {said}")
    return wrong


def listed(source):
    """Names of the probes that the page says do not hold."""
    page = (source / "docs/notebook/turning_knobs.md").read_text(encoding="utf-8")
    return set(re.findall(r"^- `(\w+)`: ", page[page.index("## What does not hold"):], re.M))


def main():
    parser = argparse.ArgumentParser(description="Turns knobs and holds what happens against nature.")
    parser.add_argument("program")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--figures", action="store_true")
    arguments = parser.parse_args()
    bench = Bench(arguments.program, arguments.source)
    everything = [p for group in GROUPS for p in group.probes(bench.source)]
    everything += drawn_probes.probes(bench.source, arguments.draws, arguments.seed)
    probes = [p for p in everything if arguments.only in p.name]
    if not probes:
        sys.exit(f"physics_test.py: no probe's name holds {arguments.only!r}")
    failed = {p.name for p in probes if judge(p, bench, arguments.figures)}
    known = listed(bench.source) & {p.name for p in probes}
    print(f"{len(probes)} probes, {len(probes) - len(failed)} hold, {len(failed)} do not, {len(known)} of them listed")
    for name in sorted(failed - known):
        print(f"  {name}: does not hold, and docs/notebook/turning_knobs.md does not say so")
    for name in sorted(known - failed):
        print(f"  {name}: holds now; expected to leave the list of docs/notebook/turning_knobs.md")
    print(f"{spent():.0f} s of processors")
    return 1 if failed != known else 0


if __name__ == "__main__":
    sys.exit(main())
