#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site builds with warnings as errors, no link is broken, and every page and picture is in it.

usage: site_test.py FOLDER      exits with 77 (skipped) without mkdocs and its theme
"""
import importlib
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/site_parts"))
import check_links  # noqa: E402
import switchfold_site  # noqa: E402

OUT = pathlib.Path(sys.argv.pop()).resolve()


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        no_api = [] if shutil.which("doxygen") else ["--no-api"]
        cls.done = subprocess.run([sys.executable, ROOT / "scripts/site", "--out", OUT, *no_api], capture_output=True, text=True,
                                  check=False)

    def test_it_builds_without_a_warning(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))

    def test_every_page_is_in_it(self):
        for page in ROOT.glob("docs/**/*.md"):
            name = "index" if page.stem == "README" else page.stem
            self.assertTrue((OUT / "html" / page.relative_to(ROOT).with_name(f"{name}.html")).is_file(), page.name)

    def test_the_notebook_is_not_in_the_navigation(self):
        navigation = json.dumps(json.loads((OUT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
        self.assertIn("docs/plans.md", navigation)
        self.assertNotIn("docs/notebook", navigation)

    def test_the_gallery_shows_every_picture(self):
        gallery = (OUT / "html/configs/index.html").read_text(encoding="utf-8")
        for picture in ROOT.glob("configs/pictures/*.svg"):
            self.assertIn(f'src="pictures/{picture.name}"', gallery)

    def test_the_search_knows_parameters(self):
        index = json.loads((OUT / "html/search/search_index.json").read_text(encoding="utf-8"))
        self.assertTrue(any("max_ctas" in entry["text"] for entry in index["docs"]))

    def test_nothing_is_loaded_from_elsewhere(self):
        for page in (OUT / "html/index.html", OUT / "html/docs/tutorial.html"):
            for tag in ("<script src=\"http", "<link rel=\"stylesheet\" href=\"http", "fonts.googleapis"):
                self.assertNotIn(tag, page.read_text(encoding="utf-8"))


class Parts(unittest.TestCase):
    def test_links_that_lead_nowhere_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.html").write_text('<h2 id="x"></h2><a href="#x"></a><a href="b.html#y"></a><img src="c.png">'
                                           '<a href="d.html"></a><a href="https://e.org/"></a>')
            (folder / "b.html").write_text("<p>")
            self.assertEqual(check_links.broken(folder), [
                "a.html: b.html#y: no such place in the page", "a.html: c.png leads nowhere", "a.html: d.html leads nowhere"])

    def test_headings_are_called_as_github_calls_them(self):
        self.assertEqual(switchfold_site.slug("What `result.json` says, in a word", "-"), "what-resultjson-says-in-a-word")


if __name__ == "__main__":
    if importlib.util.find_spec("mkdocs") is None or "material" not in importlib.import_module("mkdocs.utils").get_theme_names():
        print("skipped: Debian's mkdocs and mkdocs-material are not installed")
        sys.exit(77)
    unittest.main()
