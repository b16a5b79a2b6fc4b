#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a build. Reads ninja's output, in which each finished edge has a line that begins with
"[done/all seconds]" (NINJA_STATUS='[%f/%t %e] '), and writes to standard error how many edges are done and how long
the rest will take.

On a terminal it rewrites a single line; elsewhere it prints a line every 20 seconds.
"""
import re
import sys
import time

EDGE = re.compile(r"^\[(\d+)/(\d+) ([\d.]+)\] ")
PAUSE = 20.0  # seconds between lines where standard error is not a terminal


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def message(done, total, seconds):
    """Assumes that the remaining edges take as long as the finished ones did."""
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
