#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A notebook runs from start to end, and is stored without results. Skipped (77) where its tools are missing.

usage: SWITCHFOLD=PROGRAM notebooks_test.py NOTEBOOK.ipynb
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

NEEDED = {"nbconvert": "python3-nbconvert", "ipykernel": "python3-ipykernel", "pandas": "python3-pandas",
          "matplotlib": "python3-matplotlib"}
PACKAGE = pathlib.Path(__file__).resolve().parents[1]


def main():
    book = pathlib.Path(sys.argv[1]).resolve()
    missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        return 77
    for cell in json.loads(book.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs"), "a cell is kept with its output; expected none (Kernel, Restart and clear)"
    with tempfile.TemporaryDirectory() as folder:
        # Isolates the run from the user's settings, and leaves no files behind.
        own = {name: folder for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR",
                                         "MPLCONFIGDIR")}
        done = subprocess.run(
            [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--ExecutePreprocessor.timeout=550",
             "--log-level", "ERROR", "--output-dir", folder, book],
            env={**os.environ, **own, "PYTHONPATH": str(PACKAGE), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}, cwd=folder, check=False)
        assert done.returncode == 0, "the notebook does not run"
        cells = json.loads((pathlib.Path(folder) / book.name).read_text(encoding="utf-8"))["cells"]
    kinds = [kind for cell in cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert "text/html" in kinds and "image/png" in kinds, "no table or no picture came out"
    return 0


if __name__ == "__main__":
    sys.exit(main())
