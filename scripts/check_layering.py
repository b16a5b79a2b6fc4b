#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which folders include which. Prints one line per forbidden include and exits with 1 if there is any.

usage: check_layering.py [REPOSITORY]
"""
import pathlib
import re
import sys

# The layers from the ground up, which are the repository's folders: a folder includes itself, folders of
# lower layers that it names, and nothing else. A longer path takes precedence over a shorter one.
GRAPH = "workloads/graph/execution_graph.h"
# The messages of Chakra's files, which hold traces and collectives alike.
CHAKRA = tuple(f"workloads/readers/chakra/{name}.h" for name in ("messages", "node", "wire"))
LAYERS = {
    "core": (),
    "core/kernel": ("core",),
    "workloads": ("core",),
    "interconnect": ("core", "core/kernel"),
    "training": ("core", "workloads"),
    # Models execute graphs and know nothing else of workloads.
    "models": ("core", "core/kernel", "interconnect", GRAPH, *CHAKRA),
    # The coprocessor model stands alone: it uses no GPU parameters.
    "models/coprocessor": ("core",),
    "sim/intervals": ("core",),
    "sim/output": ("core", "sim/intervals"),
    "sim": ("core", "core/kernel", "workloads", "interconnect", "training", "models", "models/coprocessor", "sim/intervals", "sim/output"),
    "validation": ("core", "workloads", "training", "sim/intervals", "sim/output", "sim"),
    "app": ("core", "workloads", "training", "sim/intervals", "sim/output", "sim", "validation"),
    "fuzz": ("core", "workloads", "training", "sim/intervals", "sim/output", "sim", "validation"),
}
# SystemC's headers slow down the compilation of every file that includes them and tie it to one kernel.
# The headers of sim that validation and app include must not include them either, not even
# indirectly.
SYSTEMC_FOLDERS = {"core/kernel", "interconnect", "models", "sim"}
NO_SYSTEMC_BEHIND = {"core", "workloads", "training", "sim/intervals", "sim/output", "validation", "app", "fuzz"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SYSTEMC = re.compile(r"^(systemc|tlm|sysc/|tlm_utils/|tlm_core/)")
SUFFIXES = {".h", ".cpp", ".hpp", ".cc"}
# cmake is left out because cmake/tests/consumer is a separate project.
NOT_SOURCES = {"build", ".git", "out", "cmake"}


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def folder_of(name):
    fits = [f for f in LAYERS if name.startswith(f + "/")]
    return max(fits, key=len) if fits else None


def may_include(folder, target):
    return folder_of(target) in (folder, *LAYERS[folder]) or target in LAYERS[folder]


def upward():
    """Folders that name one of a higher layer, or of their own height above them."""
    order = list(LAYERS)
    return [
        f"{folder}: names {lower}, which is no lower layer"
        for folder, below in LAYERS.items()
        for lower in below
        if lower not in (GRAPH, *CHAKRA) and (lower not in LAYERS or order.index(lower) >= order.index(folder))
    ]


def systemc_behind(root, target, seen):
    """The chain of includes through which a repository header includes SystemC, or None."""
    if target in seen:
        return None
    seen.add(target)
    path = root / target
    if not path.is_file():
        return None
    for _, kind, name in includes(path):
        if SYSTEMC.match(name):
            return [target, name]
        if kind == '"':
            rest = systemc_behind(root, name, seen)
            if rest:
                return [target, *rest]
    return None


def check(root):
    problems = upward()
    files = sorted(
        p
        for p in root.rglob("*")
        if p.suffix in SUFFIXES and not NOT_SOURCES & set(p.relative_to(root).parts)
    )
    for path in files:
        name = path.relative_to(root).as_posix()
        folder = folder_of(name)
        if folder is None:
            problems.append(f"{name}:1: lies in no folder that the layering knows")
            continue
        for number, kind, target in includes(path):
            where = f"{name}:{number}"
            if SYSTEMC.match(target) and kind == "<":
                if folder not in SYSTEMC_FOLDERS:
                    problems.append(f"{where}: {folder} must not include <{target}>")
                continue
            if kind != '"':
                continue
            if not (root / target).is_file():
                problems.append(f'{where}: "{target}" is not a file; include paths start at the root')
                continue
            if not may_include(folder, target):
                allowed = ", ".join((folder, *LAYERS[folder]))
                problems.append(f"{where}: {folder} must not include {target}; it may: {allowed}")
            elif folder in NO_SYSTEMC_BEHIND:
                chain = systemc_behind(root, target, set())
                if chain:
                    problems.append(f"{where}: brings SystemC in by {' -> '.join(chain)}")
    return len(files), problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    count, problems = check(root.resolve())
    for problem in problems:
        print(problem)
    if count == 0:
        print(f"{root}: no C++ files")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
