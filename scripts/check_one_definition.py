#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds types that two files define in the same namespace. No compiler and no linker reports them: the program then uses
the constructor or the vector of one for objects of the other.

usage: check_one_definition.py FOLDER
"""
import collections
import pathlib
import re
import sys

ROOMS = ("sim", "interconnect", "models", "workloads", "validation")
OPENS = re.compile(r"namespace ([\w:]+ )?\{$")
TYPE = re.compile(r"(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;]*)? ?\{")


def types_of(text):
    """Types outside of anonymous namespaces, with their namespaces. clang-format writes both at a line's beginning."""
    namespaces = []
    for line in text.splitlines():
        if opened := OPENS.match(line):
            namespaces.append((opened[1] or "").strip())
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif (found := TYPE.match(line)) and "" not in namespaces:
            yield "::".join([*namespaces, found[1]])


def twice_in(folder):
    files = collections.defaultdict(list)
    for room in ROOMS:
        for path in sorted((folder / room).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                for name in set(types_of(path.read_text(encoding="utf-8"))):
                    files[name].append(str(path.relative_to(folder)))
    return {name: found for name, found in files.items() if len(found) > 1}


def main():
    twice = twice_in(pathlib.Path(sys.argv[1]))
    for name, files in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(files)}; expected it in one")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
