# SPDX-License-Identifier: Apache-2.0
"""Builds a picture as SVG text; the same calls give the same bytes."""
import html

FONT = "DejaVu Sans, Verdana, sans-serif"
INK, FAINT, LINE, PAPER = "#1b1f24", "#59636e", "#d0d7de", "#ffffff"
# Okabe and Ito's colours, also used in the report.
COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#7a5195"]


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def tick(value, digits=6):
    """A number on an axis, never with an exponent."""
    text = f"{value:.{digits}g}"
    if "e" not in text and abs(value) < 10000:
        return text
    return f"{float(text):,.12f}".rstrip("0").rstrip(".")


def duration(seconds):
    """In the largest of seconds, minutes and hours in which it is one or more."""
    size, unit = next((pair for pair in ((3600, "h"), (60, "min")) if seconds >= pair[0]), (1, "s"))
    return f"{tick(seconds / size, 3)} {unit}"


class Svg:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f"<title>{html.escape(title)}</title>"]

    def resize(self, height):
        """For what is known to fit only when it has been drawn."""
        self.height = height

    def rect(self, x, y, width, height, fill, stroke=None, radius=0):
        edge = f' stroke="{stroke}"' if stroke else ""
        corner = f' rx="{number(radius)}"' if radius else ""
        self.parts.append(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
                          f'fill="{fill}"{edge}{corner}/>')

    def rects(self, places, fill):
        """Draws many rectangles of one colour, each given as (x, y, width, height)."""
        way = "".join(f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h-{number(w)}z" for x, y, w, h in places)
        self.parts.append(f'<path d="{way}" fill="{fill}"/>')

    def line(self, points, color=INK, width=1, dash=None, arrow=False):
        place = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        head = ' marker-end="url(#arrow)"' if arrow else ""
        self.parts.append(f'<polyline points="{place}" fill="none" stroke="{color}" stroke-width="{number(width)}"'
                          f'{dashes}{head}/>')

    def polygon(self, points, fill, stroke=None):
        place = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        edge = f' stroke="{stroke}"' if stroke else ""
        self.parts.append(f'<polygon points="{place}" fill="{fill}"{edge}/>')

    def circle(self, x, y, radius, fill):
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"/>')

    def text(self, x, y, words, size=12, color=INK, anchor="start", bold=False, turned=False):
        weight = ' font-weight="bold"' if bold else ""
        turn = f' transform="rotate(-90 {number(x)} {number(y)})"' if turned else ""
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{color}" '
                          f'text-anchor="{anchor}"{weight}{turn}>{html.escape(words)}</text>')

    def __str__(self):
        size = f"{number(self.width)} {number(self.height)}"
        arrow = ('<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                 f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{FAINT}"/></marker></defs>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{number(self.width)}" '
                f'height="{number(self.height)}" font-family="{FONT}">\n' + arrow + "\n" + "\n".join(self.parts[:1] + [
                    f'<rect width="{number(self.width)}" height="{number(self.height)}" fill="{PAPER}"/>'] + self.parts[1:]) +
                "\n</svg>\n")
