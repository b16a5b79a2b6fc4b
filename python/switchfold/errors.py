# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exceptions. They follow the program's exit codes."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Sequence

# "file: /pointer: message"; of traces the middle is a place such as "byte 2". A file's name may hold ": ".
_LINE = re.compile(r"^(?P<file>.+?): (?P<pointer>/[^:]*|[a-z]+ \d[^:]*): (?P<message>.+)$")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input."""

    file: str
    """The file that holds it; "-" is an experiment that was given as a dict."""
    pointer: str
    """JSON pointer into the file ("/workload/size"; "/" is all of it), or a place such as "line 3" or "byte 2"."""
    what: str
    """What is wrong."""
    expected: str
    """What was expected; empty where the program says nothing of it."""

    @classmethod
    def parse(cls, line: str) -> Problem:
        """Of a line `file: /pointer: what; what was expected`. Any other line is all `what`."""
        found = _LINE.match(line)
        if not found:
            return cls("", "/", line, "")
        message = found["message"]
        at = message.find("; expected ")
        if at < 0:
            at = message.find("; ")
        what, expected = (message, "") if at < 0 else (message[:at], message[at + 2 :])
        return cls(found["file"], found["pointer"], what, expected.removeprefix("expected "))

    def __str__(self) -> str:
        place = f"{self.file}: {self.pointer}: " if self.file else ""
        return place + self.what + (f"; expected {self.expected}" if self.expected else "")


class SwitchfoldError(Exception):
    """Whatever the program or its files refuse."""


class ProgramNotFound(SwitchfoldError):
    """The program `switchfold` is not where it was looked for; the message lists the places."""


class InputError(SwitchfoldError):
    """An experiment, a trace or an argument is wrong (exit code 2). All that is wrong is told at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems: list[Problem] = list(problems)

    @classmethod
    def parse(cls, text: str) -> InputError:
        """Of the program's standard error."""
        return cls([Problem.parse(line) for line in text.splitlines() if line.strip()])


class SimulationError(SwitchfoldError):
    """The simulated machine could not go on, or was given up at the experiment's limits (exit code 3)."""


class InternalError(SwitchfoldError):
    """A bug of switchfold (exit code 70), or the program was killed."""


def raise_for(code: int, text: str) -> None:
    """The exception of a program that ended with `code` and wrote `text` to standard error; none for 0."""
    if code == 0:
        return
    text = text.strip()
    if code == 2:
        raise InputError.parse(text)
    if code == 3:
        raise SimulationError(text)
    if code < 0:
        raise InternalError(f"the program was ended by signal {-code}\n{text}".strip())
    raise InternalError(text or f"the program ended with exit code {code}")
