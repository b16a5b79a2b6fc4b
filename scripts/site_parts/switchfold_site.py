# SPDX-License-Identifier: Apache-2.0
"""Builds heading anchors as GitHub does, so that links to headings work both on GitHub and on the site."""
import re


def slug(heading, _separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
