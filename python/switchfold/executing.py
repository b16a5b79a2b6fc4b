# SPDX-License-Identifier: Apache-2.0
"""A sweep's points on any concurrent.futures.Executor: processes, Dask's client, MPI's pool."""
from __future__ import annotations

import concurrent.futures
import contextlib
import pathlib
import pickle
import shutil
import sqlite3
import tempfile
import time
import urllib.parse
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .errors import raise_for
from .program import PathLike, call
from .progress import Progress, ProgressOption, shower
from .source import Given

NO_POINT = "0" * 16
"""A digest that no point has: the program writes down its plan and runs nothing."""


class Share(NamedTuple):
    """What a task is told. It travels to a worker, and so is plain."""

    given: Given
    digests: List[str]
    arguments: List[str]
    program: Optional[str]


class Done(NamedTuple):
    """What a task brings back: its database, or why there is none."""

    database: bytes
    code: int
    errors: str


def run_share(share: Share) -> Done:
    """Runs on a worker, which needs the program and the files that the sweep names, but no folder in common."""
    with tempfile.TemporaryDirectory(prefix="switchfold-") as folder:
        points = pathlib.Path(folder) / "points"
        points.write_text("\n".join(share.digests) + "\n", encoding="utf-8")
        out = pathlib.Path(folder) / "out"
        ended = call(
            ["sweep", share.given.argument, "--out", str(out), "--points", str(points), "--jobs", "1", *share.arguments],
            program=share.program, progress=False, folder=share.given.folder, given=share.given.content, good=range(256))
        database = out / "sweep.db"
        return Done(database.read_bytes() if database.is_file() else b"", ended.code, ended.errors)


def run_through_files(share: str) -> str:
    """As run_share, for a worker on this machine: the share is read from a file, and what it brings back is left in one."""
    file = pathlib.Path(share)
    done = file.with_suffix(".done")
    done.write_bytes(pickle.dumps(run_share(pickle.loads(file.read_bytes()))))
    return str(done)


class Tasks:
    """Hands shares to an executor, and reads what comes back.

    A ProcessPoolExecutor's workers share one pipe. Whatever is larger than the pipe's buffer is written in pieces, and of a
    worker that is killed between two of them CPython waits for the rest for ever (seen with 3.11). A pool of processes is
    therefore handed names of files alone, which fit.
    """

    def __init__(self, executor: Any) -> None:
        # Dask's client takes two tasks that are told the same for one, and its futures are none of concurrent.futures'.
        self._executor = executor.get_executor(pure=False) if hasattr(executor, "get_executor") else executor
        self._folder: Optional[pathlib.Path] = None
        self._shares: Dict[Any, Share] = {}
        if isinstance(executor, concurrent.futures.ProcessPoolExecutor):
            self._folder = pathlib.Path(tempfile.mkdtemp(prefix="switchfold-"))

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *_: object) -> None:
        # Tasks that run on find no folder, and nobody asks for them.
        for future in self._shares:
            future.cancel()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def submit(self, share: Share) -> None:
        if self._folder is None:
            self._shares[self._executor.submit(run_share, share)] = share
            return
        file = self._folder / f"{len(self._shares)}.share"
        file.write_bytes(pickle.dumps(share))
        self._shares[self._executor.submit(run_through_files, str(file))] = share

    def ended(self) -> Iterator[Tuple[Share, Done]]:
        """As they end."""
        for future in concurrent.futures.as_completed(self._shares):
            try:
                result = future.result()
            except Exception as error:
                if type(error).__name__ == "KilledWorker":  # Dask's, which need not be installed
                    raise concurrent.futures.BrokenExecutor(str(error)) from error
                raise
            if self._folder is not None:
                result = pickle.loads(pathlib.Path(result).read_bytes())
            yield self._shares[future], result


def run_on(
    executor: Any, given: Given, out: pathlib.Path, arguments: Sequence[str], tasks: Optional[int], program: Optional[PathLike],
    progress: ProgressOption,
) -> int:
    """Runs the missing points; returns the exit code of the whole sweep, which the program itself tells in the end."""
    plan(given, out, arguments, program)
    todo = missing(out / "sweep.db")
    if tasks is None:
        tasks = 4 * max(1, workers_of(executor))
    tasks = max(1, min(tasks, len(todo)))
    # Dealt in turn: neighbours take about equally long.
    dealt = [todo[i::tasks] for i in range(tasks)] if todo else []
    begun = time.monotonic()
    ended = 0
    show = shower(progress)
    with Tasks(executor) as given_out:
        for digests in dealt:
            given_out.submit(Share(given, digests, list(arguments), None if program is None else str(program)))
        try:
            if show is not None:
                show.__enter__()
            for share, done in given_out.ended():
                if done.database:
                    merge(out / "sweep.db", done.database)
                elif done.code not in (0, 3):
                    raise_for(done.code, done.errors)
                ended += len(share.digests)
                if show is not None:
                    show(Progress(ended / len(todo), f"{ended} of {len(todo)} experiments, {time.monotonic() - begun:.0f} s"))
        finally:
            if show is not None:
                show.__exit__(None, None, None)
    plan(given, out, arguments, program)
    return 3 if missing(out / "sweep.db") else 0


def workers_of(executor: Any) -> int:
    """How many tasks run at the same time, as far as an executor tells."""
    if hasattr(executor, "nthreads"):  # Dask's client
        return sum(executor.nthreads().values())
    return getattr(executor, "_max_workers", None) or 16


def plan(given: Given, out: pathlib.Path, arguments: Sequence[str], program: Optional[PathLike]) -> None:
    """Lets the program write the points, and results.csv of those that have ended."""
    with tempfile.NamedTemporaryFile("w", prefix="switchfold-", suffix=".points") as points:
        points.write(NO_POINT + "\n")
        points.flush()
        call(["sweep", given.argument, "--out", str(out.absolute()), "--points", points.name, *arguments], program=program,
             folder=given.folder, given=given.content, good=(0, 3))


def missing(database: pathlib.Path) -> List[str]:
    """Digests of the points that have not been simulated, or failed."""
    # Closed at once: processes that are forked later would inherit it.
    with contextlib.closing(sqlite3.connect(database)) as opened:
        rows = opened.execute("SELECT DISTINCT p.digest FROM points p LEFT JOIN runs r USING (digest) "
                              "WHERE r.status IS NULL OR r.status <> 'done' ORDER BY p.point").fetchall()
    return [row[0] for row in rows]


def merge(database: pathlib.Path, part: bytes) -> None:
    """Takes a task's runs into the sweep's database, in one transaction: a kill leaves all of them or none."""
    with tempfile.NamedTemporaryFile(prefix="switchfold-", suffix=".db") as file:
        file.write(part)
        file.flush()
        opened = sqlite3.connect(database, isolation_level=None, uri=True)
        try:
            # Only to be read: else SQLite keeps a journal of both, which a kill leaves in the folder.
            opened.execute("ATTACH DATABASE ? AS part", (f"file:{urllib.parse.quote(file.name)}?mode=ro",))
            opened.execute("BEGIN IMMEDIATE")
            opened.execute("CREATE TEMP TABLE taken AS SELECT p.digest AS digest FROM part.runs p LEFT JOIN main.runs m "
                           "ON m.digest = p.digest WHERE m.digest IS NULL OR m.status = 'failed'")
            for table in ("runs", "scenarios", "hosts"):
                opened.execute(f"DELETE FROM main.{table} WHERE digest IN (SELECT digest FROM taken)")
                opened.execute(f"INSERT INTO main.{table} SELECT * FROM part.{table} WHERE digest IN (SELECT digest FROM taken)")
            opened.execute("DROP TABLE taken")
            opened.execute("COMMIT")
        finally:
            opened.close()
