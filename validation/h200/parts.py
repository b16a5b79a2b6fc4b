# SPDX-License-Identifier: Apache-2.0
"""Splits a measurement into parts that end in time and can be continued."""
import datetime
import json
import os
import pathlib
import subprocess
import time


class Deadline:
    def __init__(self, seconds, now=time.monotonic):
        self.now = now
        self.end = now() + seconds

    def left(self):
        return self.end - self.now()


class Store:
    """A file of finished items, one JSON object per line; these are not measured again."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.items = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    item = json.loads(line)
                except ValueError:
                    break  # cut off when the last run was killed
                self.items[item["key"]] = item["value"]

    def add(self, key, value):
        self.items[key] = value
        partial = self.path.with_suffix(".partial")
        with open(partial, "w", encoding="utf-8") as out:
            for name, item in self.items.items():
                out.write(json.dumps({"key": name, "value": item}) + "\n")
            out.flush()
            os.fsync(out.fileno())
        partial.replace(self.path)


def run_items(store, items, deadline, measure, estimate_s, say):
    """Measures the items that are not in the store yet, while there is time. Reports a failed item
    and leaves it for the next run. Returns the number of items left."""
    waiting = [item for item in items if item["key"] not in store.items]
    failed = 0
    longest = estimate_s
    while waiting and deadline.left() > longest:
        item = waiting.pop(0)
        say(f"{item['key']} ({deadline.left():.0f} s left)")
        start = deadline.now()
        try:
            store.add(item["key"], measure(item))
        except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
            say(f"{item['key']}: {error}")
            failed += 1
        longest = max(longest, deadline.now() - start)
    return len(waiting) + failed


def provenance(versions, command):
    """The provenance that every result records."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "versions": versions,
    }


def write_json(path, value):
    path = pathlib.Path(path)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
