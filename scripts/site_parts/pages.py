# SPDX-License-Identifier: Apache-2.0
"""Lays out the pages at their paths in the repository, so that links stay valid, and builds the navigation."""
import json
import posixpath
import re
import shutil

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]+)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md", "docs/notebook/*.md", "configs/*.md", "python/*.md",
         "validation/data/README.md")
# Makes room for wide tables, and styles tables of notebooks like the others.
STYLE = """.md-grid { max-width: 76rem; }
.md-typeset table { font-size: 0.66rem; }
.md-typeset pre > code { font-size: 0.9em; }
.md-typeset table.dataframe { border: none; border-collapse: collapse; }
.md-typeset table.dataframe :is(th, td) { border: none; border-bottom: 1px solid var(--md-default-fg-color--lightest);
  padding: 0.25rem 0.6rem; text-align: right; }
"""


def lay_out(root, source, with_books):
    """Copies the pages and the repository files that they link or show. With `with_books`, links notebooks as pages."""
    for pattern in PAGES:
        for page in sorted(root.glob(pattern)):
            text = page.read_text(encoding="utf-8")
            if with_books:
                text = text.replace(".ipynb)", ".md)")
            write(source / page.relative_to(root), for_mkdocs(text))
            for link in LINK.findall(FENCE.sub("", text)):
                target = (page.parent / link).resolve()
                if target.is_file() and target.suffix != ".md":
                    copy(target, source / target.relative_to(root))
    write(source / "site.css", STYLE)


def for_mkdocs(text):
    """Adapts GitHub's Markdown to Python's, which needs an empty line before a table and only one word after ```."""
    text = re.sub(r"^```(\w+) .*$", r"```\1", text, flags=re.MULTILINE)
    lines = []
    for line in text.split("\n"):
        if line.startswith("|") and lines and lines[-1] and not lines[-1].startswith("|"):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def sections(root):
    """The manual's table of pages: maps each heading to a list of (name, page)."""
    text = (root / "docs/README.md").read_text(encoding="utf-8")
    found = {}
    for line in text.split("\n"):
        if heading := re.match(r"\| to ([^|]+?) \| \|$", line):
            found[f"To {heading[1]}"] = current = []
        elif entry := re.match(r"\| \[([^\]]+)\]\(([^)]+)\)", line):
            current.append((entry[1], posixpath.normpath(posixpath.join("docs", entry[2]))))
    return found


def configuration(root, source, html, books, with_api):
    """The text of mkdocs.yml with folders and navigation, as JSON, which is valid YAML."""
    tree = [{"Home": "README.md"}]
    tree += [{heading: [{(name[0].upper() + name[1:]).replace("_", " "): page} for name, page in entries]}
             for heading, entries in sections(root).items()]
    if books:
        tree.append({"Notebooks": [{title: page} for title, page in books]})
    develop = [{"Contributing": "CONTRIBUTING.md"}]
    develop += [{name: page} for name, page in (("Changes", "CHANGELOG.md"), ("Security", "SECURITY.md"),
                                                ("Measurements", "validation/data/README.md")) if (source / page).is_file()]
    if with_api:
        develop.append({"C++ API": "api/index.html"})
    tree.append({"To change it": develop})
    settings = {"INHERIT": str(root / "mkdocs.yml"), "docs_dir": str(source), "site_dir": str(html), "nav": tree}
    return json.dumps(settings, indent=1) + "\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(path, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)
