#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages: the README lists every page, the gallery every experiment and sweep; no link or picture is broken.

usage: pages_test.py
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("configs/*.md")),
         ROOT / "validation/data/README.md"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
KILOBYTE = 1000


def anchors(page):
    """Anchors of the headings, as GitHub builds them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [link for link in LINK.findall(text) if not link.startswith(("http://", "https://"))]


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in links(page):
                with self.subTest(f"{page.name}: {link}"):
                    file, _, anchor = link.partition("#")
                    target = (page.parent / file).resolve() if file else page
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_the_readme_links_every_page(self):
        linked = {(ROOT / link).resolve() for link in links(ROOT / "README.md")}
        for page in [*ROOT.glob("docs/*.md"), ROOT / "configs/README.md"]:
            with self.subTest(page.name):
                self.assertIn(page.resolve(), linked)

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
