#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A short run of scripts/reliability: some kills, full disks, folders without permission, a clock that jumps.

usage: reliability_test.py SWITCHFOLD SWITCHFOLD-CAPTURE
"""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/reliability_parts"))
import clock  # noqa: E402
import disk  # noqa: E402
import kills  # noqa: E402
import permission  # noqa: E402
import processes  # noqa: E402
from capture import Capture, frames  # noqa: E402
from subjects import ALL, able, disturbed  # noqa: E402

FRONT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
SEED = 7
ABLE = able(PROGRAM)


class Rounds(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(dir=processes.memory())
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def whole(self, cases):
        cases = list(cases)
        self.assertEqual([(name, finding) for name, findings in cases for finding in findings], [])
        return len(cases)

    def test_killed_commands_lose_nothing(self):
        for name, subject in ABLE.items():
            with self.subTest(name):
                tally = kills.rounds(subject(PROGRAM, ROOT, self.folder / name), 3, SEED)
                self.assertEqual((tally.killed, dict(tally.findings)), (3, {}))

    def test_a_killed_capture_holds_what_was_taken(self):
        tally = kills.rounds(Capture(PROGRAM, ROOT, self.folder, FRONT), 3, SEED)
        self.assertEqual((tally.killed, dict(tally.findings)), (3, {}))

    def test_a_full_disk(self):
        self.assertGreater(self.whole(disk.cases(PROGRAM, ROOT, self.folder, (0.05, 0.9))), 15)

    def test_no_permission(self):
        self.assertGreater(self.whole(permission.cases(PROGRAM, ROOT, self.folder)), 10)

    def test_a_clock_that_jumps(self):
        self.assertGreaterEqual(self.whole(clock.cases(PROGRAM, ROOT, self.folder)), 2 * len(disturbed(PROGRAM)))


class Rules(unittest.TestCase):
    """The checks detect planted faults: a check that cannot fail proves nothing."""

    def setUp(self):
        Rounds.setUp(self)

    def test_half_results_are_seen(self):
        for name, spoil in {
            "run": lambda s: (s.out / "memory.csv").write_text("of another run"),
            "sweep": lambda s: (s.out / "results.csv").write_text("point"),
            "report": lambda s: (s.out / "report.html").write_text("<html>"),
            "trace convert": lambda s: s.file.write_bytes(b"half"),
            "trace inspect": lambda s: (s.out / "left").write_text(""),
        }.items():
            if name not in ABLE:
                continue
            with self.subTest(name):
                subject = ALL[name](PROGRAM, ROOT, self.folder / name)
                subject.prepare()
                subject.before()
                subject.finish()
                self.assertEqual(subject.check(), [])
                if name == "run":
                    subject.turn = 1
                    subject.finish()
                spoil(subject)
                self.assertNotEqual(subject.check(), [])

    def test_lost_runs_are_seen(self):
        sweep = ALL["sweep"](PROGRAM, ROOT, self.folder)
        sweep.prepare()
        sweep.finish()
        sweep.check()
        sweep.kept += 1
        self.assertIn("were there, now", sweep.check()[0])

    def test_torn_records_are_seen(self):
        capture = Capture(PROGRAM, ROOT, self.folder, FRONT)
        capture.prepare()
        self.assertEqual(capture.finish(), [])
        content = capture.file.read_bytes()
        kinds, torn = frames(content[:-3])
        self.assertEqual(len(kinds), len(frames(content)[0]) - 1)
        self.assertGreater(torn, 0)


if __name__ == "__main__":
    unittest.main()
