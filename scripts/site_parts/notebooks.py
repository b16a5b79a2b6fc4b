# SPDX-License-Identifier: Apache-2.0
"""Converts the notebooks to pages; with a program, runs them first."""
import importlib.util
import json
import os
import subprocess
import sys


def lay_out(root, source, program):
    """Writes the pages and returns (title, page) of each; none without nbconvert."""
    if importlib.util.find_spec("nbconvert") is None:
        print("site: no notebooks: python3-nbconvert is not installed", file=sys.stderr)
        return []
    folder = source / "python/notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    books = sorted((root / "python/notebooks").glob("*.ipynb"))
    command = [sys.executable, "-m", "nbconvert", "--to", "markdown", "--log-level", "ERROR", "--output-dir", folder, *books]
    environment = {**os.environ, "PYTHONPATH": str(root / "python"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    if program is not None:
        command.append("--execute")
        environment["SWITCHFOLD"] = str(program.resolve())
    subprocess.run(command, env=environment, check=True)
    return [(title(book), f"python/notebooks/{book.stem}.md") for book in books]


def title(book):
    """The notebook's first heading."""
    first = "".join(json.loads(book.read_text(encoding="utf-8"))["cells"][0]["source"])
    return first.split("\n")[0].lstrip("# ")
