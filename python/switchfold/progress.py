# SPDX-License-Identifier: Apache-2.0
"""Progress of long calls: a line in a terminal or a notebook, or calls of a function."""
from __future__ import annotations

import os
import re
import selectors
import sys
import termios
from dataclasses import dataclass
from typing import IO, Callable, Optional, Union

_BEGIN = "\r\x1b[K"  # the program starts each progress line with this
_PERCENT = re.compile(r"^\s*(\d+) %")
_OF = re.compile(r"^\s*(\d+) of (\d+) ")
_PROGRESS = re.compile(r"^\s*\d+ (%|of \d+ experiments|plans simulated)")
_WIDTH = 24


@dataclass(frozen=True)
class Progress:
    """How far a call has got."""

    share: Optional[float]
    """Share that is done, 0 to 1; None where it is unknown (a search for plans)."""
    text: str
    """The program's own line: events or experiments so far, elapsed seconds, seconds left."""

    @classmethod
    def parse(cls, line: str) -> Progress:
        share: Optional[float] = None
        if found := _PERCENT.match(line):
            share = int(found[1]) / 100
        elif (found := _OF.match(line)) and int(found[2]) > 0:
            share = int(found[1]) / int(found[2])
        return cls(share, line.strip())

    def bar(self) -> str:
        """One line: "[######------] 3 of 6 experiments ..."."""
        if self.share is None:
            return self.text
        full = round(_WIDTH * min(1.0, self.share))
        return f"[{'#' * full}{'-' * (_WIDTH - full)}] {self.text}"


ProgressOption = Union[None, bool, Callable[[Progress], None]]


class _Function:
    """Passes progress to the caller's function."""

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell

    def __enter__(self) -> _Function:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, progress: Progress) -> None:
        self._tell(progress)


class _Line(_Function):
    """One line on standard error, erased when the call ends."""

    def __init__(self) -> None:
        super().__init__(self._show)

    def _show(self, progress: Progress) -> None:
        print(_BEGIN + progress.bar(), end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        print(_BEGIN, end="", file=sys.stderr, flush=True)


class _Cell(_Function):
    """A line below a notebook cell, erased when the call ends."""

    def __init__(self) -> None:
        super().__init__(self._show)
        self._handle: object = None

    def _show(self, progress: Progress) -> None:
        from IPython.display import HTML, display  # only ever called in a notebook

        line = HTML(f"<pre>{progress.bar()}</pre>")
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        from IPython.display import HTML

        if self._handle is not None:
            self._handle.update(HTML(""))  # type: ignore[attr-defined]


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def shower(progress: ProgressOption) -> Optional[_Function]:
    """Selects how progress is shown. None: a bar in a terminal or a notebook only; True: always a bar; False: none.
    A function is called with each Progress, at most ten times a second."""
    if callable(progress):
        return _Function(progress)
    if progress is False:
        return None
    if _in_notebook():
        return _Cell()
    if progress or (sys.stderr is not None and sys.stderr.isatty()):
        return _Line()
    return None


class Terminal:
    """A pseudo-terminal for the program's standard error. Raises OSError where the system cannot provide one."""

    def __init__(self) -> None:
        self._mine, self.its_side = os.openpty()
        self._open = True

    def __enter__(self) -> Terminal:
        mode = termios.tcgetattr(self.its_side)
        mode[1] &= ~termios.OPOST  # no translation of line ends
        termios.tcsetattr(self.its_side, termios.TCSANOW, mode)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._mine)
        if self._open:
            os.close(self.its_side)

    def read(self, stdout: IO[bytes], show: Callable[[Progress], None]) -> tuple[bytes, str]:
        """Reads standard output and standard error until the program closes both; returns them without the progress."""
        os.close(self.its_side)
        self._open = False
        output, errors = bytearray(), bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(stdout.fileno(), selectors.EVENT_READ, output)
            ready.register(self._mine, selectors.EVENT_READ, errors)
            while ready.get_map():
                for key, _ in ready.select():
                    try:
                        read = os.read(key.fd, 65536)
                    except OSError:  # the terminal's other side is closed
                        read = b""
                    if not read:
                        ready.unregister(key.fd)
                        continue
                    key.data.extend(read)
                    if key.fd == self._mine:
                        self._tell(errors, show)
        return bytes(output), errors.decode("utf-8", "replace").replace(_BEGIN, "")

    @staticmethod
    def _tell(errors: bytearray, show: Callable[[Progress], None]) -> None:
        """Removes the progress lines from what was read so far, and shows the newest."""
        parts = errors.split(_BEGIN.encode())
        lines = [part for part in parts if _PROGRESS.match(part.decode("utf-8", "replace"))]
        if lines:
            errors[:] = b"".join(part for part in parts if part not in lines)
            show(Progress.parse(lines[-1].decode("utf-8", "replace")))
