# SPDX-License-Identifier: Apache-2.0
"""The package's exceptions, which follow the program's exit codes."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Sequence

# "file: /pointer: message". For traces the middle part is a position such as "byte 2". The file name may contain ": ".
_LINE = re.compile(r"^(?P<file>.+?): (?P<pointer>/[^:]*|[a-z]+ \d[^:]*): (?P<message>.+)$")


@dataclass(frozen=True)
class Problem:
    """One error in an input."""

    file: str
    """The file with the error; "-" is an experiment that was given as a dict."""
    pointer: str
    """JSON pointer into the file ("/workload/size"; "/" is all of it), or a position such as "line 3" or "byte 2"."""
    what: str
    """What is wrong."""
    expected: str
    """What was expected; empty where the program does not say."""

    @classmethod
    def parse(cls, line: str) -> Problem:
        """Parses a line `file: /pointer: what; what was expected`. Any other line becomes `what` as a whole."""
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
    """Base class of all errors of this package."""


class ProgramNotFound(SwitchfoldError):
    """The program `switchfold` was not found; the message lists the places searched."""


class InputError(SwitchfoldError):
    """An experiment, a trace or an argument is wrong (exit code 2). Lists all problems at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems: list[Problem] = list(problems)

    @classmethod
    def parse(cls, text: str) -> InputError:
        """Parses the program's standard error."""
        return cls([Problem.parse(line) for line in text.splitlines() if line.strip()])


class SimulationError(SwitchfoldError):
    """The simulated machine could not continue, or the run reached the experiment's limits (exit code 3)."""


class InternalError(SwitchfoldError):
    """A bug in switchfold (exit code 70), or the program was killed."""


def raise_for(code: int, text: str) -> None:
    """Raises the exception for a program that exited with `code` and wrote `text` to standard error; none for 0."""
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
