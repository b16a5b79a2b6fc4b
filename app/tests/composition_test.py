#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks for every two features of a training step together, and holds docs/plans.md to what runs.

usage: composition_test.py SWITCHFOLD SOURCE_DIRECTORY [--write]

--write  writes the page's list anew instead of comparing it
"""
import argparse
import itertools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "physics"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "composition"))
from bench import Bench, Refused  # noqa: E402
from features import NATURE, base, changed, features  # noqa: E402

BEGIN, END = "<!-- refused: begin -->", "<!-- refused: end -->"


def reasons(said):
    """What the program says of a refused experiment, without file and with the key alone."""
    return "; ".join(re.sub(r"^\S+: (/\S+): ", r"`\1` ", line).replace("|", "/") for line in said.splitlines())


def asked(bench, source):
    """Refusals by pair of names, and the number of pairs; alone, every feature must run."""
    known, plain = features(source), base(source)
    wrong = []
    for name, change in known.items():
        try:
            bench.result(changed(plain, change))
        except Refused as refused:
            wrong.append(f"{name} alone: {refused}")
    pairs = {pair: changed(plain, *(known[name] for name in pair)) for pair in itertools.combinations(known, 2)}
    pairs = {pair: experiment for pair, experiment in pairs.items() if experiment}

    def answer(pair):
        try:
            bench.result(pairs[pair])
        except Refused as refused:
            return reasons(str(refused))
        return None

    answers = dict(zip(pairs, bench.all(answer, pairs)))
    return {pair: said for pair, said in answers.items() if said}, len(pairs), wrong


def listed(refused, pairs):
    """The page's list."""
    by_nature = [pair for pair in refused if frozenset(pair) in NATURE]
    lines = [f"Of {pairs} pairs {pairs - len(refused)} run, {len(by_nature)} contradict themselves, and "
             f"{len(refused) - len(by_nature)} are not built.", ""]
    for title, chosen in (("Contradict themselves", by_nature),
                          ("Not built", [pair for pair in refused if pair not in by_nature])):
        lines += [f"### {title}", "", "| | with | what the program says |", "|---|---|---|"]
        lines += [f"| {one} | {other} | {refused[one, other]} |" for one, other in chosen] + [""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    source = options.source.resolve()
    refused, pairs, wrong = asked(Bench(options.program, source), source)
    page = source / "docs/plans.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    now = f"{before}{BEGIN}\n\n{listed(refused, pairs)}\n{END}{rest.split(END)[1]}"
    if options.write:
        page.write_text(now, encoding="utf-8")
    elif now != text:
        shown = set(text.splitlines())
        wrong += [f"{page.name} lacks: {line}" for line in now.splitlines() if line not in shown]
        shown = set(now.splitlines())
        wrong += [f"{page.name} has: {line}" for line in text.splitlines() if line not in shown]
        wrong.append("run it with --write and read what changed")
    print(f"{pairs} pairs, {len(refused)} refused")
    for line in wrong:
        print(f"wrong: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
