#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages: the manual lists every page, the gallery every experiment and sweep; no link or picture is broken, prose is
wrapped, tables are whole, and sources name pages that exist.

usage: pages_test.py
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/pictures"))
import svg  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("configs/*.md")),
         ROOT / "validation/data/README.md"]
# On the site too; only their links are looked at.
BESIDE = [ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "python/README.md"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w/]+\.md(?:#[\w-]+)?")
SOURCES = ("*.h", "*.cpp", "*.py", "*.ipynb", "*.cmake", "CMakeLists.txt", "scripts/*")
KILOBYTE = 1000
WIDTH = 100
GENERATED = {ROOT / "docs/parameters.md", ROOT / "docs/statistics.md"}
# To be wrapped by scripts/wrap_pages and then taken off this list.
NOT_YET_WRAPPED = set()


def anchors(page):
    """Anchors of the headings, as GitHub builds them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def without_code(page):
    """The page's text; code's lines are empty."""
    return re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), page.read_text(encoding="utf-8"),
                  flags=re.MULTILINE | re.DOTALL)


def tables(page):
    """Blocks of lines that begin with a bar, each with its first line's number."""
    found, last = [], ""
    for number, line in enumerate(without_code(page).split("\n"), 1):
        if line.startswith("|"):
            if not last.startswith("|"):
                found.append((number, []))
            found[-1][1].append(line)
        last = line
    return found


def cells(row):
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def links(page):
    text = without_code(page)
    return [link for link in LINK.findall(text) if not link.startswith(("http://", "https://"))]


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in [*PAGES, *BESIDE]:
            for link in links(page):
                with self.subTest(f"{page.name}: {link}"):
                    file, _, anchor = link.partition("#")
                    target = (page.parent / file).resolve() if file else page
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_the_manual_lists_every_page_and_the_notebook_its_own(self):
        for index in (ROOT / "docs/README.md", ROOT / "docs/notebook/README.md"):
            linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
            for page in {*index.parent.glob("*.md"), ROOT / "configs/README.md"} - {index}:
                if index.parent == page.parent or index.parent == ROOT / "docs":
                    with self.subTest(page.name):
                        self.assertIn(page.resolve(), linked)

    def test_the_first_pages_are_short(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()), 120)
        self.assertLessEqual(len([link for link in links(ROOT / "README.md") if link.endswith(".md")]), 12)
        self.assertLessEqual(len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()), 250)

    def test_pictures_write_their_numbers_out(self):
        for picture in [*ROOT.glob("docs/pictures/*.svg"), *ROOT.glob("configs/pictures/*.svg")]:
            with self.subTest(picture.name):
                self.assertNotRegex(picture.read_text(encoding="utf-8"), r">-?[0-9.]+e[+-][0-9]+")
        self.assertEqual([svg.tick(value, 3) for value in (1e3, 5e4, 0.05, 1e-5, 2.5)], ["1,000", "50,000", "0.05", "0.00001", "2.5"])
        self.assertEqual([svg.duration(s) for s in (0, 30, 120, 21600)], ["0 s", "30 s", "2 min", "6 h"])

    def test_a_page_begins_with_what_it_is_for(self):
        for page in ROOT.glob("docs/**/*.md"):
            with self.subTest(page.name):
                title, empty, first = page.read_text(encoding="utf-8").split("\n")[:3]
                self.assertTrue(title.startswith("# ") and not empty and re.match(r"[A-Z*`]", first), first)

    def test_headings_stand_apart_and_differ(self):
        for page in PAGES:
            lines = without_code(page).split("\n")
            headings = [(i, line) for i, line in enumerate(lines) if re.match(r"#+ ", line)]
            with self.subTest(page.name):
                sections = [line for _, line in headings if line.startswith("## ")]
                self.assertEqual(len(set(sections)), len(sections), "a section twice")
                for i, line in headings[1:]:
                    self.assertEqual(lines[i - 1], "", line)
                for (i, line), (j, below) in zip(headings, headings[1:]):
                    if len(below.split()[0]) <= len(line.split()[0]):  # code's lines are empty here
                        self.assertTrue("".join(lines[i + 1:j]) or j - i > 3, f"nothing below {line}")

    def test_prose_is_wrapped(self):
        for page in set(PAGES) - GENERATED - NOT_YET_WRAPPED:
            for number, line in enumerate(without_code(page).split("\n"), 1):
                if not line.startswith(("|", "#", "<!--", "![")):
                    with self.subTest(f"{page.name}:{number}"):
                        self.assertLessEqual(len(line), WIDTH, "scripts/wrap_pages wraps it")

    def test_tables_are_whole(self):
        for page in PAGES:
            lines = [*without_code(page).split("\n"), ""]
            for number, rows in tables(page):
                with self.subTest(f"{page.name}:{number}"):
                    below = lines[number - 1 + len(rows)]
                    self.assertTrue(not below or below.startswith("<!--"), f"belongs to the table: {below}")
                    self.assertGreaterEqual(len(rows), 2, "a row by itself")
                    self.assertRegex(rows[1], r"^\|(:?-+:?\|)+$")
                    for row in rows:
                        self.assertTrue(row.endswith("|"), row)
                        self.assertEqual(cells(row), cells(rows[0]), row)

    def test_what_pages_quote_and_simulate_is_compared(self):
        compared = (ROOT / "scripts/CMakeLists.txt").read_text(encoding="utf-8")
        quoted, simulated = compared.split("switchfold_script_test(pages_hold_what_is_simulated")
        for page in PAGES:
            text, name = page.read_text(encoding="utf-8"), str(page.relative_to(ROOT))
            with self.subTest(name):
                if re.search(r"^```console", text, re.MULTILINE):
                    self.assertIn(f"/{name}", quoted, "its quotations are not compared")
                if "<!-- simulated {" in text:
                    self.assertIn(f"/{name}", simulated, "its simulated tables are not compared")

    def test_sources_name_pages_that_exist(self):
        files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", *SOURCES], capture_output=True, check=False).stdout
        for name in [name for name in files.decode().split("\0") if name]:
            text = (ROOT / name).read_text(encoding="utf-8", errors="replace") if (ROOT / name).is_file() else ""
            for named in NAMED.findall(re.sub(r"\"\s*\n\s*\"", "", text)):
                page, _, anchor = named.partition("#")
                if name.startswith("configs/") or name == "scripts/tests/site_test.py":
                    continue
                with self.subTest(f"{name}: {named}"):
                    self.assertTrue((ROOT / page).is_file())
                    if anchor:
                        self.assertIn(anchor, anchors(ROOT / page))

    def test_the_gallery_shows_every_experiment_and_sweep_and_nothing_else(self):
        gallery = (ROOT / "configs/README.md").read_text(encoding="utf-8")
        shown = set()
        for config in [*ROOT.glob("configs/experiments/*.json"), *ROOT.glob("configs/sweeps/*.json")]:
            with self.subTest(config.name):
                self.assertIn(f"]({config.parent.name}/{config.name})", gallery)
                self.assertIn(f"(pictures/{config.stem}.svg)", gallery)
            shown.add(config.stem)
        self.assertEqual({p.stem for p in ROOT.glob("configs/pictures/*")}, shown)

    def test_pictures_are_small(self):
        for picture in [*ROOT.glob("docs/pictures/*.png"), *ROOT.glob("configs/pictures/*")]:
            with self.subTest(picture.name):
                self.assertLess(picture.stat().st_size, 300 * KILOBYTE)

    def test_the_figure_of_the_architecture_is_what_its_text_says(self):
        text = ROOT / "docs/pictures/architecture.txt"
        with tempfile.TemporaryDirectory() as folder:
            drawn = pathlib.Path(folder) / "drawn.svg"
            subprocess.run([sys.executable, ROOT / "scripts/pictures/draw_architecture", text, drawn], check=True)
            self.assertEqual(drawn.read_text(encoding="utf-8"),
                             text.with_suffix(".svg").read_text(encoding="utf-8"))

    def test_the_figure_of_the_architecture_shows_folders_that_exist(self):
        text = (ROOT / "docs/pictures/architecture.txt").read_text(encoding="utf-8")
        folders = re.findall(r"^room +(\S+)", text, re.MULTILINE)
        self.assertGreaterEqual(len(folders), 9)
        for folder in folders:
            self.assertTrue((ROOT / folder).is_dir(), folder)


if __name__ == "__main__":
    unittest.main()
