# SPDX-License-Identifier: Apache-2.0
"""Generated parts of a page, between two comments."""
import re
import sys


def with_section(page, name, lines):
    """The page's text with these lines as the part of this name."""
    begin, end = f"<!-- {name}: generated -->", f"<!-- {name}: end -->"
    section = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    if not section.search(page):
        sys.exit(f"the page has no part between {begin} and {end}")
    return section.sub(lambda _: "\n".join([begin, *lines, end]), page)
