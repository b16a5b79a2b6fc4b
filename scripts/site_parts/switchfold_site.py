# SPDX-License-Identifier: Apache-2.0
"""Names of headings as GitHub makes them, so that a link into a page works in both places."""
import re


def slug(heading, _separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
