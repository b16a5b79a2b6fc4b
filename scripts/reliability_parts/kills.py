# SPDX-License-Identifier: Apache-2.0
"""Kills commands with SIGKILL at random moments."""
import collections
import dataclasses
import os
import random
import signal
import subprocess

from processes import Moments, kill, survivors

# After this many rounds, an undisturbed run follows over the files that the killed ones have left.
FINISH = 10


@dataclasses.dataclass
class Tally:
    """Counts over a subject's rounds."""

    rounds: int = 0
    killed: int = 0  # rounds in which the signal came before the command ended
    finished: int = 0  # undisturbed runs over the leftovers
    hung: int = 0  # rounds that did not end by themselves, where somebody else's library hangs
    findings: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def rounds(subject, count, seed, tell=lambda tally: None):
    """Starts the subject and kills it until `count` kills came in time; checks its files each time. Returns a Tally."""
    chance = random.Random(f"{seed} {subject.name}")
    moments = Moments(chance)
    subject.prepare()
    tally = Tally()
    while tally.killed < count:
        subject.before()
        process = subject.start()
        moments.wait(process, subject.seconds, subject.out)
        victim = subject.victim(process, chance)
        kill(victim)
        left = survivors(process.pid) if not subject.may_outlive() else []
        tally.findings.update(["a process outlives it"] * bool(left))
        if victim == process.pid and subject.may_outlive():
            end(process.pid)
        tally.rounds += 1
        try:
            code = process.wait(subject.patience)
        except subprocess.TimeoutExpired:
            tally.hung += subject.may_hang()
            tally.findings.update(["it hangs"] * (not subject.may_hang()))
            end(process.pid)
            code = process.wait()
        tally.killed += code != 0
        tally.findings.update(subject.check())
        if tally.rounds % FINISH == 0:
            tally.findings.update(subject.finish())
            tally.finished += 1
        tell(tally)
    tally.findings.update(subject.finish())
    tally.finished += 1
    subject.clear()
    return tally


def end(session):
    """Kills the remaining processes of a session, which may continue after its first process was killed."""
    for pid in survivors(session, 0):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    survivors(session)
