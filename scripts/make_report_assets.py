#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ file with all parts of a report's page, including the chart libraries from npm.

Without npm or its registry the file holds the reason instead, and `switchfold report` prints it. The rest of the
simulator does not need the libraries.

usage: make_report_assets.py SOURCES WORK_FOLDER OUTPUT.cpp
"""
import pathlib
import shutil
import subprocess
import sys

OWN = {"page": "page.html", "style": "style.css", "charts": "charts.js", "explorer": "explorer.js",
       "map_layout": "map_layout.js", "map": "map.js", "timeline_pane": "timeline_pane.js", "timelines": "timelines.js",
       "times": "times.js", "waterfall": "waterfall.js", "gains": "gains.js", "schedule": "schedule.js",
       "memory": "memory.js", "learning": "learning.js", "members": "members.js", "regions": "regions.js",
       "run": "run.js", "sweep": "sweep.js"}
LIBRARIES = {
    "vega": "vega/build/vega.min.js",
    "vega_lite": "vega-lite/build/vega-lite.min.js",
    "vega_embed": "vega-embed/build/vega-embed.min.js",
}
# Without a network, the build waits for the registry for seconds, not minutes.
PATIENCE = ["--fetch-retry-mintimeout=2000", "--fetch-retry-maxtimeout=5000"]
# The C++ standard requires compilers to accept string literals of up to 64 KiB only.
PIECE = 60_000


def install(sources, work):
    """Installs the libraries and returns their folder; raises RuntimeError with what the user has to do."""
    if shutil.which("npm") is None:
        raise RuntimeError("npm was not there when this was built; install npm and build again")
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(sources / name, work / name)
    result = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", *PATIENCE],
        cwd=work, capture_output=True, text=True, check=False,
    )
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["no word"])[-1]
        raise RuntimeError(f"npm ci failed when this was built ({last}); build again where it can reach its registry")
    return work / "node_modules"


def literal(text):
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)] or [""]
    return "\n".join(f'R"switchfold({piece})switchfold"' for piece in pieces)


def main():
    sources, work, output = map(pathlib.Path, sys.argv[1:4])
    texts = {key: (sources / name).read_text(encoding="utf-8") for key, name in OWN.items()}
    missing = ""
    try:
        modules = install(sources, work)
        texts |= {key: (modules / name).read_text(encoding="utf-8") for key, name in LIBRARIES.items()}
    except (RuntimeError, OSError) as error:
        missing = str(error)
        print(f"reports: {missing}", file=sys.stderr)
    lines = ['#include "sim/output/report_assets.h"', "", "namespace switchfold {", ""]
    for key in (*OWN, *LIBRARIES):
        lines.append(f"extern const char kReport_{key}[];")
        lines.append(f"const char kReport_{key}[] = {literal(texts.get(key, ''))};")
    rows = ", ".join(f'{{"{key}", kReport_{key}}}' for key in (*OWN, *LIBRARIES))
    lines.append(f"std::vector<ReportAsset> report_assets() {{ return {{{rows}}}; }}")
    lines.append(f"std::string report_assets_missing() {{ return {literal(missing)}; }}")
    lines += ["", "}  // namespace switchfold", ""]
    output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
