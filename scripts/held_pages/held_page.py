# SPDX-License-Identifier: Apache-2.0
"""Pages that quote what the program says, and are held to it to the last digit."""
import difflib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Mismatch(Exception):
    """What a page quotes cannot be had from the program at all."""


def environment():
    """The program's on any machine: without the measurements that this one may have."""
    return {name: value for name, value in os.environ.items() if name != "SWITCHFOLD_DATA"}


def differences(old, new):
    """Diff lines between the quoted and the printed output."""
    return [line for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "quoted", "printed", lineterm="", n=0)]


def hold(usage, corrected, off):
    """Runs `usage`'s command line, [--write] SWITCHFOLD PAGE...: compares each page with corrected(page, program), or
    writes that. `off` says what is wrong with a page that differs. Exits with 1 if one does, or is a Mismatch."""
    arguments = sys.argv[1:]
    write = "--write" in arguments
    arguments = [a for a in arguments if a != "--write"]
    if len(arguments) < 2:
        sys.exit(usage)
    program = pathlib.Path(arguments[0]).resolve()
    failed = False
    for name in arguments[1:]:
        path = pathlib.Path(name)
        page = path.read_text(encoding="utf-8")
        try:
            new = corrected(page, program)
        except Mismatch as error:
            print(f"{path}: {error}")
            failed = True
            continue
        if new == page:
            continue
        if write:
            path.write_text(new, encoding="utf-8")
            print(f"{path}: written")
        else:
            failed = True
            print(f"{path}: {off}; scripts/{pathlib.Path(sys.argv[0]).name} --write makes it agree")
            print("\n".join(differences(page, new)))
    sys.exit(failed)
