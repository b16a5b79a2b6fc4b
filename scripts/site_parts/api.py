# SPDX-License-Identifier: Apache-2.0
"""The C++ API documentation, generated from the headers by doxygen. Any doxygen warning is an error."""
import re
import shutil
import subprocess
import sys

FOLDERS = ("sim", "interconnect", "models", "workloads", "validation")
SETTINGS = """
PROJECT_NAME           = switchfold
PROJECT_NUMBER         = {version}
OUTPUT_DIRECTORY       = {out}
INPUT                  = {inputs}
USE_MDFILE_AS_MAINPAGE = {first}
STRIP_FROM_PATH        = {root}
STRIP_FROM_INC_PATH    = {root}
FULL_PATH_NAMES        = YES
FILE_PATTERNS          = *.h *.md
RECURSIVE              = YES
EXCLUDE_PATTERNS       = */tests/* */bench/* */fuzz/* */data/*
EXTRACT_ALL            = YES
JAVADOC_AUTOBRIEF      = YES
MARKDOWN_SUPPORT       = YES
AUTOLINK_SUPPORT       = NO
GENERATE_LATEX         = NO
HTML_OUTPUT            = api
HAVE_DOT               = NO
CLASS_GRAPH            = NO
QUIET                  = YES
WARNINGS               = YES
WARN_IF_UNDOCUMENTED   = NO
WARN_IF_DOC_ERROR      = YES
WARN_NO_PARAMDOC       = NO
WARN_LOGFILE           = {out}/doxygen.log
ENABLE_PREPROCESSING   = YES
MACRO_EXPANSION        = YES
SEARCHENGINE           = YES
VERBATIM_HEADERS       = NO
HTML_TIMESTAMP         = NO
"""


def lay_out(root, out, source):
    """Writes the API pages into `source`/api."""
    if shutil.which("doxygen") is None:
        sys.exit("site: no doxygen here; expected Debian's package doxygen, or --no-api")
    version = re.search(r"^project\(switchfold VERSION (\S+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"),
                        re.MULTILINE)[1]
    first = out / "layers.md"
    first.write_text(first_page(root), encoding="utf-8")
    inputs = " ".join(f'"{path}"' for path in (first, *(root / folder for folder in FOLDERS)))
    settings = SETTINGS.format(version=version, out=out, inputs=inputs, first=first, root=root)
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, check=False)
    warnings = [line for line in (out / "doxygen.log").read_text(encoding="utf-8").splitlines() if "warning:" in line]
    for line in warnings[:20]:
        print(line, file=sys.stderr)
    if done.returncode != 0 or warnings:
        sys.exit(f"site: doxygen: {len(warnings)} warnings")
    shutil.move(out / "api", source / "api")


def first_page(root):
    """The first page: the section on layers in CONTRIBUTING.md, as a guide to the headers."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return ("# Headers\n\n<a href=\"../index.html\">Back to the pages</a>\n\n## Layers" +
            text.split("\n## Layers")[1].split("\n## Recipes")[0] + "\n")
