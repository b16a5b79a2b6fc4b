# SPDX-License-Identifier: Apache-2.0
"""The commands to disturb: each subject defines its command, its complete result, and the files allowed after a kill.

A check returns one sentence per finding.
"""
import contextlib
import json
import shutil
import sqlite3
import sys
import time

from processes import living, parent, run, start

# Tables of a sweep database that do not depend on the machine.
KEPT = ("meta", "axes", "axis_values", "points", "point_values", "runs", "scenarios")
TRACE = "configs/examples/resnet50_ddp_synthetic.json.gz"


def without_host(name, content):
    """A file's bytes; for result.json, without the part that depends on the machine."""
    if name != "result.json":
        return content
    result = json.loads(content)
    del result["host"]
    return json.dumps(result, sort_keys=True).encode()


def files_of(folder):
    return {p.name: without_host(p.name, p.read_bytes()) for p in folder.iterdir() if p.is_file() and p.name != ".lock"}


def leftovers(folder):
    return [f"left behind: {p.name}" for p in folder.iterdir() if ".partial" in p.name]


class Subject:
    """One command that writes into `out`. `folder` holds its files; `whole` is the result of an undisturbed run."""

    name = ""
    kills_only = False  # its command is Python's, which tells full disks and the like in its own way
    patience = None  # seconds until a command counts as hung; None: the rounds would wait

    def __init__(self, program, source, folder):
        self.program, self.source, self.folder = program, source, folder
        self.out = folder / "out"
        self.whole = None
        self.seconds = 0.0
        folder.mkdir(parents=True, exist_ok=True)

    def command(self):
        raise NotImplementedError

    def prepare(self):
        """Runs the command undisturbed, and keeps its result and duration."""
        begin = time.monotonic()
        done = run(self.command())
        self.seconds = time.monotonic() - begin
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} does not run at all: {done.stderr}")
        self.whole = self.content()
        self.clear()

    def content(self):
        return files_of(self.out)

    def clear(self):
        shutil.rmtree(self.out, ignore_errors=True)

    def move(self, out):
        """Makes later runs write into another folder."""
        self.out = out

    def before(self):
        """Prepares a round."""

    def start(self):
        return start(self.command())

    def victim(self, process, _chance):
        """The id of the process to kill."""
        return process.pid

    def may_hang(self):
        """Whether a command that is killed now may hang: somebody else's library does."""
        return False

    def may_outlive(self):
        """Whether child processes may survive the killed process."""
        return False

    def check(self):
        raise NotImplementedError

    def finish(self, **options):
        """Runs the command again, undisturbed: its result must be complete, with nothing left of the killed runs."""
        done = run(self.command(), **options)
        if done.returncode != 0:
            return [f"does not run after a kill: exit {done.returncode}: {done.stderr.strip()}"]
        content = self.content()
        other = sorted(n for n in content.keys() | self.whole.keys() if content.get(n) != self.whole.get(n))
        wrong = [f"ends with another result than undisturbed: {', '.join(other)}"] if other or content != self.whole else []
        return wrong + (leftovers(self.out) if self.out.is_dir() else [])

    def write(self, name, value):
        path = self.folder / name
        path.write_text(json.dumps(value))
        return path

    def small_plan(self, **more):
        """An experiment that trains a small transformer; `more` adds or replaces keys."""
        return {
            "name": "small",
            "system": str(self.source / "configs/systems/hgx_h100.json"),
            "causes": False,
            "workload": {
                "type": "training", "gradient": "bfloat16",
                "network": {"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 2048},
            },
            "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}],
        } | more


class Run(Subject):
    """Two experiments take turns in one folder; their files must never be mixed."""

    name = "run"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        planned = self.small_plan()
        planned["workload"]["plan"] = {"data": 2, "pipeline": 2, "micro_batch": 1, "accumulate": 2}
        traced = {
            "name": "traced",
            "system": str(self.source / "configs/systems/hgx_h100.json"),
            "causes": False,
            "workload": {"type": "trace", "files": [str(self.source / TRACE)], "ranks": 2},
            "scenarios": [{"name": "a"}, {"name": "b", "overlap": False}],
        }
        self.experiments = [self.write("planned.json", planned), self.write("traced.json", traced)]
        self.turn = 0
        self.wholes = []

    def command(self):
        timeline = ["--timeline"] if self.turn else []
        return [self.program, "run", self.experiments[self.turn], "--out", self.out, "--jobs", "2", *timeline]

    def prepare(self):
        for self.turn in (0, 1):
            super().prepare()
            self.wholes.append(self.whole)

    def before(self):
        self.turn = 1 - self.turn
        self.whole = self.wholes[self.turn]

    def check(self):
        if not self.out.exists():
            return []
        there = files_of(self.out)
        if "result.json" in there:
            return [] if there in self.wholes else [f"result.json beside files of another run: {sorted(there)}"]
        done = run([self.program, "report", "--text", self.out])
        return [] if done.returncode == 2 and "finished run" in done.stderr else ["a half run was read as whole"]


class Database(Subject):
    """A command that keeps results in sweep.db: the rows only grow in number, and equal those of an undisturbed run."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.kept = 0

    def clear(self):
        super().clear()
        self.kept = 0

    def content(self):
        return self.tables() | files_of(self.out) | {"sweep.db": None}

    def tables(self):
        with contextlib.closing(sqlite3.connect(self.out / "sweep.db")) as database:
            there = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
            return {t: sorted(database.execute(f"SELECT * FROM {t}"), key=repr) for t in KEPT if t in there}

    def check(self):
        if not (self.out / "sweep.db").exists():
            return [] if self.kept == 0 else ["sweep.db is gone"]
        try:
            tables = self.tables()
        except sqlite3.Error as error:
            return [f"sweep.db cannot be read: {error}"]
        wrong = []
        for table in ("runs", "scenarios"):
            strange = [row for row in tables.get(table, []) if row not in self.whole[table]]
            wrong += [f"{table} has rows that an undisturbed run has not: {strange[0]}"] if strange else []
        runs = len(tables.get("runs", []))
        wrong += [f"{self.kept} runs were there, now {runs}"] if runs < self.kept else []
        self.kept = runs
        for name, content in self.whole.items():
            if name.endswith((".csv", ".json")) and (self.out / name).exists():
                wrong += [] if (self.out / name).read_bytes() == content else [f"{name} is not whole"]
        # Either a report of the results so far or a refusal is acceptable; a crash is not.
        report = run([self.program, "report", "--text", self.out])
        wrong += [] if report.returncode in (0, 2) else [f"report ends with {report.returncode}: {report.stderr}"]
        return wrong

    def before(self):
        if self.kept == len(self.whole["runs"]):
            self.clear()

    def small_sweep(self, sizes, ranks):
        """The file of a sweep of all-reduces."""
        return self.write("sweep.json", {
            "name": "small",
            "experiment": {
                "name": "one",
                "system": str(self.source / "configs/systems/hgx_h100.json"),
                "workload": {"type": "collective", "size": "1 KiB"},
                "scenarios": [{"name": "x", "all_reduce": {"algorithm": "ring"}}],
            },
            "axes": [
                {"name": "size", "pointer": "/workload/size", "range": sizes},
                {"name": "ranks", "pointer": "/workload/ranks", "values": ranks},
            ],
        })


class Sweep(Database):
    name = "sweep"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.file = self.small_sweep("256 KiB..2 MiB +64 KiB", [2, 4, 8])

    def command(self):
        return [self.program, "sweep", self.file, "--out", self.out, "--jobs", "2"]


class SweepOnExecutor(Database):
    """`switchfold.sweep(..., executor=E)` on a pool of two processes. The signal goes to Python, or to a worker or its
    program."""

    name = "sweep on an executor"
    kills_only = True
    patience = 20
    CODE = ("import pathlib, sys, concurrent.futures, switchfold\n"
            "if __name__ == '__main__':\n"
            "    with concurrent.futures.ProcessPoolExecutor(2) as pool:\n"
            "        switchfold.sweep(sys.argv[1], out=sys.argv[2], program=sys.argv[3], executor=pool, tasks=4,\n"
            "                         progress=False)\n"
            "        pathlib.Path(sys.argv[4]).touch()\n")

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.file = self.small_sweep("256 KiB..1 MiB +64 KiB", [2, 4])
        self.code = self.folder / "sweep.py"
        self.code.write_text(self.CODE)

    def command(self):
        return ["env", f"PYTHONPATH={self.source / 'python'}", "TMPDIR=" + str(self.scratch()), sys.executable, self.code,
                self.file, self.out, self.program, self.returned()]

    def returned(self):
        """A file that is there once the sweep has returned."""
        return self.scratch() / "returned"

    def may_hang(self):
        # A pool that is shut down looks no more for workers that die; one of them may hold the lock of the queue.
        return self.returned().exists()

    def scratch(self):
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def victim(self, process, chance):
        # Not the jobs of a worker's program: of such a kill it makes a failed point, which the next call repeats.
        workers = [pid for pid in living(process.pid) if pid != process.pid and process.pid in (parent(pid), parent(parent(pid)))]
        return chance.choice(workers) if workers and chance.random() < 0.5 else process.pid

    def may_outlive(self):
        return True  # the pool's workers wait for a process that is no more; the round ends them

    def before(self):
        super().before()
        # Of a kill, tasks leave their folder there, as in /tmp.
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)


class Plan(Database):
    name = "plan"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        planner = {
            "global_batch": 8, "gpus": 4, "pipeline": [1, 2], "micro_batch": [2], "sharding": ["none"], "sequence": "no",
            "recompute": ["none"], "schedule": ["1f1b"]}
        self.file = self.write("plan.json", self.small_plan(planner=planner))

    def command(self):
        # With one job, the choice of simulated plans does not depend on which one finishes first.
        return [self.program, "plan", self.file, "--out", self.out, "--jobs", "1"]


class Convert(Subject):
    """An existing trace file stays complete: it is either the old or the new one."""

    name = "trace convert"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.old = None

    @property
    def file(self):
        return self.out / "trace.swt"

    def command(self):
        self.out.mkdir(exist_ok=True)
        return [self.program, "trace", "convert", self.source / TRACE, "--out", self.file]

    def prepare(self):
        super().prepare()
        self.out.mkdir(exist_ok=True)
        capture = self.source / "fuzz/readers/corpus/kineto/small.json"
        run([self.program, "trace", "convert", capture, "--out", self.file])
        self.old = self.file.read_bytes()

    def before(self):
        self.out.mkdir(exist_ok=True)
        self.file.write_bytes(self.old)

    def check(self):
        if not self.file.exists():
            return ["the old trace is gone"]
        return [] if self.file.read_bytes() in (self.old, self.whole["trace.swt"]) else ["trace.swt is half"]


class Read(Subject):
    """Reading a trace leaves no files, not even in TMPDIR."""

    name = "trace inspect"

    def command(self):
        self.out.mkdir(exist_ok=True)
        return ["env", f"TMPDIR={self.out}", self.program, "trace", "inspect", self.source / TRACE]

    def before(self):
        self.clear()
        self.out.mkdir()

    def check(self):
        return [f"left in TMPDIR: {p.name}" for p in self.out.iterdir()]


class Report(Subject):
    """An existing page is complete, and the reported results are unchanged."""

    name = "report"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.ran = self.folder / "ran"

    def command(self):
        if not self.ran.exists():
            file = self.source / "configs/experiments/all_reduce_256MiB.json"
            run([self.program, "run", file, "--set", "/workload/size=1 MiB", "--out", self.ran])
        if not self.out.exists():
            shutil.copytree(self.ran, self.out)
        return [self.program, "report", self.out]

    def check(self):
        there = files_of(self.out)
        wrong = [f"{name} is not whole" for name in there if there[name] != self.whole.get(name) and ".partial" not in name]
        return wrong + [f"{name} is gone" for name in self.whole if name not in there and name != "report.html"]


ALL = {subject.name: subject for subject in (Run, Sweep, SweepOnExecutor, Plan, Convert, Read, Report)}


def disturbed(program):
    """The subjects for full disks and clocks that jump."""
    return {name: subject for name, subject in able(program).items() if not subject.kills_only}


def able(program):
    """The subjects that this build can run: one that was built without npm's registry writes no report pages."""
    charts = next(line for line in run([program, "doctor"]).stdout.splitlines() if line.split()[0] == "charts")
    return {name: subject for name, subject in ALL.items() if subject is not Report or "missing" not in charts}
