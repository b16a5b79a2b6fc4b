# SPDX-License-Identifier: Apache-2.0
"""Capture as a subject: after a kill, the file holds all calls that the plugin had accepted, and can be read."""
import pathlib
import struct
import sys
import zlib

from processes import run, start
from subjects import Subject

CALLS = 3000
HERE = pathlib.Path(__file__).resolve().parent


def frames(content):
    """The kinds of a capture's complete records, and the number of bytes after them (docs/notebook/traces.md#the-file-of-a-capture)."""
    kinds, at = [], 8
    while at + 12 <= len(content):
        length, kind, _ = struct.unpack_from("<IHH", content, at)
        end = at + 8 + length
        if end + 4 > len(content) or struct.unpack_from("<I", content, end)[0] != zlib.crc32(content[at:end]):
            break
        kinds.append(kind)
        at = end + 4
    return kinds, len(content) - at


class Capture(Subject):
    name = "capture"

    def __init__(self, program, source, folder, front):
        super().__init__(program, source, folder)
        self.front = front
        self.told = folder / "told"
        self.file = self.out / "rank0.sfcapture"
        self.said = folder / "said"
        self.call = None  # the kind of a call's record

    def command(self):
        self.clear()
        self.told.unlink(missing_ok=True)
        return [self.front, "--out", self.out, "--nccl-only", "--", sys.executable, HERE / "captured_program.py", CALLS, self.told]

    def content(self):
        kinds, torn = frames(self.file.read_bytes())
        self.call = max(set(kinds), key=kinds.count)
        return {"calls": kinds.count(self.call), "torn": torn}

    def start(self):
        with self.said.open("w", encoding="utf-8") as said:
            return start(self.command(), stderr=said)

    def victim(self, process, chance):
        """Chooses the front or the captured program. The other one may survive: the program is the user's."""
        if chance.random() < 0.5:
            return process.pid
        try:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        except OSError:
            children = []
        return int(children[0]) if children else process.pid

    def may_outlive(self):
        return True

    def check(self):
        told = len(self.told.read_bytes().splitlines()) if self.told.exists() else 0
        if not self.file.exists():
            return [f"{told} calls were taken and there is no file"] if told else []
        kinds, torn = frames(self.file.read_bytes())
        there = kinds.count(self.call)
        wrong = [f"{told} calls were taken, {there} are in the file"] if there < told else []
        done = run([self.program, "trace", "check", self.file])
        wrong += [] if done.returncode in (0, 2) else [f"trace check ends with {done.returncode}: {done.stderr}"]
        said = self.said.read_text()
        if "NCCL calls" in said and there < CALLS:  # the front outlived the program
            wrong += [] if f"{there} NCCL calls" in said else [f"the front counts other calls than {there}: {said}"]
            wrong += [] if "did not end in order" in said else [f"the front takes half a capture for whole: {said}"]
            wrong += [] if not torn or "torn" in said else [f"the front says nothing of {torn} torn bytes"]
        return wrong

    def finish(self, **options):
        done = run(self.command(), **options)
        return [] if done.returncode == 0 and self.content() == self.whole else [f"does not capture: {done.stderr}"]
