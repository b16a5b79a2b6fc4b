# SPDX-License-Identifier: Apache-2.0
"""Finds the broken links of a built site: missing files, and missing anchors in pages."""
import html.parser
import pathlib
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and images of a page, and its anchors."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        for key in ("href", "src"):
            if attributes.get(key):
                self.links.append(attributes[key])


def broken(folder):
    """Returns lines "page: link" for broken links. The links in doxygen's own pages are not checked."""
    folder = pathlib.Path(folder)
    pages = {path: Page(path.read_text(encoding="utf-8", errors="replace"))
             for path in sorted(folder.rglob("*.html")) if "api" not in path.relative_to(folder).parts[:1]}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            place = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                found.append(f"{path.relative_to(folder)}: {link} leads nowhere")
            elif place and target in pages and place not in pages[target].places:
                found.append(f"{path.relative_to(folder)}: {link}: no such place in the page")
    return found
