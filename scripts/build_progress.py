#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows how far a build is: reads ninja's output, of which every finished edge begins with "[done/all seconds]"
(NINJA_STATUS='[%f/%t %e] '), and tells on standard error how many edges are done and when the last will be.

On a terminal one line is written over and over; elsewhere a line comes every 20 seconds.
"""
import re
import sys
import time

EDGE = re.compile(r"^\[(\d+)/(\d+) ([\d.]+)\] ")
PAUSE = 20.0  # seconds between lines that stay


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def message(done, total, seconds):
    """What is left is taken to go at the pace of what is done."""
    left = seconds * (total - done) / done if done else 0.0
    return f"{done} of {total} built in {clock(seconds)}, about {clock(left)} left"


def main():
    terminal = sys.stderr.isatty()
    last = time.monotonic()
    shown = False
    for line in sys.stdin:
        edge = EDGE.match(line)
        if not edge:
            continue
        text = message(int(edge[1]), int(edge[2]), float(edge[3]))
        if terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
            shown = True
        elif time.monotonic() - last >= PAUSE:
            print(text, file=sys.stderr, flush=True)
            last = time.monotonic()
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
