#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that nothing outside sim/kinds, the page of reports included, asks which kind a workload is: WorkloadKind says what differs.
Prints one line per place that asks, and exits with 1 if there is any.

usage: check_workload_kinds.py [REPOSITORY]
"""
import pathlib
import re
import sys

FAMILY = "sim/kinds"
ROWS = "sim/kinds/rows.h"
FOLDERS = ("sim", "app")
# Folders that work on workloads of one kind, which they ask an experiment for by workload_of().
OF_ONE_KIND = {
    "sim/elastic": {"TrainingWorkloadParams"},
    "sim/planner": {"TrainingWorkloadParams"},
    "sim/workload": {"TrainingWorkloadParams"},
}
# The template that they do it by.
TYPE = re.compile(r'kType\s*=\s*"(\w+)"')


def rows(root):
    """The parameters of each kind, and its word."""
    text = (root / ROWS).read_text(encoding="utf-8")
    structs = re.findall(r"\w+", re.search(r"using WorkloadRows\s*=\s*std::variant<(.*?)>;", text, re.S).group(1))
    words = {}
    for header in re.findall(r'#include "([^"]+)"', text):
        source = (root / header).read_text(encoding="utf-8")
        for struct in structs:
            found = re.search(rf"struct {struct} {{(.*?)\n}};", source, re.S)
            if found:
                words[struct] = TYPE.search(found.group(1)).group(1)
    missing = set(structs) - set(words)
    if missing:
        raise SystemExit(f"{ROWS}: no kType of {', '.join(sorted(missing))}")
    return words


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in {".h", ".cpp", ".js"} and "/tests/" not in name and not name.startswith(FAMILY + "/"):
                yield name, path.read_text(encoding="utf-8")


def problems_of(name, text, kinds):
    structs = "|".join(kinds)
    words = "|".join([*kinds.values(), "shared"])
    asks = [
        (rf"\b(?:get|get_if|holds_alternative)<\s*(?:{structs})\s*>", "asks the variant of workloads"),
        (rf"\bas<\s*(?:{structs})\s*>", "asks a workload for its parameters"),
        (r"\bvisit\([^;]*\bworkload\)", "visits the variant of workloads"),
        (rf'\btype(?:\(\))?\s*[!=]==?\s*"(?:{words})"|\.includes\([\w.]*\bworkload\.type\)', "compares the word of a kind"),
        (rf"\b(?:{structs})::kType", "names the word of a kind"),
    ]
    for pattern, what in asks:
        for found in re.finditer(pattern, text):
            yield text.count("\n", 0, found.start()) + 1, what
    folder = name.rsplit("/", 1)[0]
    for found in re.finditer(rf"\bworkload_of<\s*({structs})\s*>", text):
        if found.group(1) not in OF_ONE_KIND.get(folder, ()):
            yield text.count("\n", 0, found.start()) + 1, f"asks for {found.group(1)}"


def check(root):
    kinds = rows(root)
    return [
        f"{name}:{line}: {what}; expected a question to its WorkloadKind"
        for name, text in sources(root)
        for line, what in sorted(problems_of(name, text, kinds))
    ]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    problems = check(root.resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
