# SPDX-License-Identifier: Apache-2.0
"""Missing permissions and unwritable folders. Runs as an unprivileged user, since root ignores file modes."""
import json
import os
import shutil
import subprocess

from disk import can_mount, small_disk
from processes import run
from subjects import TRACE, files_of

NOBODY = 65534


class Place:
    """The unprivileged user's folder, with copies of the program and its input files: that user may have no access to
    the repository, for example below /root."""

    def __init__(self, program, source, folder):
        self.source, self.folder, self.root = folder / "source", folder, os.geteuid() == 0
        folder.mkdir(parents=True, exist_ok=True)
        for parent in (folder, *folder.parents):
            if parent.stat().st_mode & 0o077 == 0:  # a temporary folder, closed to others
                parent.chmod(0o755)
        self.program = folder / "switchfold"
        shutil.copy(program, self.program)
        self.program.chmod(0o755)
        shutil.copytree(source / "configs", self.source / "configs")
        system = self.source / "configs/systems/hgx_h100.json"
        if (done := self.as_user("describe", system)).returncode != 0:  # else all cases are refused for this
            raise RuntimeError(f"the other user cannot read {system}: {done.stderr}")

    def as_user(self, *words):
        drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if self.root else []
        return run([*drop, self.program, *words], cwd=self.source)

    def own(self, path, mode):
        """Gives the path to the unprivileged user, with this mode."""
        for p in (path, *path.rglob("*")) if path.is_dir() else (path,):
            if self.root:
                os.chown(p, NOBODY, NOBODY)
        path.chmod(mode)
        return path

    def copy(self, path, mode):
        there = self.folder / path.name
        shutil.copy(path, there)
        return self.own(there, mode)

    def write(self, name, value, mode=0o644):
        path = self.folder / name
        path.write_text(json.dumps(value))
        return self.own(path, mode)

    def make(self, name, mode):
        path = self.folder / name
        path.mkdir()
        return self.own(path, mode)


def refused(done, path, why="Permission denied"):
    """Findings about how the command was refused."""
    wrong = [] if done.returncode == 2 else [f"ends with {done.returncode}: {done.stderr.strip()}"]
    wrong += [] if str(path) in done.stderr and why in done.stderr else [f"does not name {path} and why: {done.stderr.strip()}"]
    return wrong + ([] if done.stdout == "" else [f"prints {done.stdout[:80]}"])


def experiment(place, **more):
    return {
        "name": "small", "system": str(place.source / "configs/systems/hgx_h100.json"),
        "workload": {"type": "collective", "size": "1 MiB", "ranks": 8},
    } | more


def cases(program, source, folder):
    place = Place(program, source, folder / "user")
    yield from unreadable(place)
    yield from unwritable(place)
    if can_mount(folder):
        yield from read_only(place)


def unreadable(place):
    file = place.write("secret.json", experiment(place), 0)
    yield "an experiment that may not be read", refused(place.as_user("run", file), file)
    system = place.copy(place.source / "configs/systems/hgx_h100.json", 0)
    file = place.write("names_system.json", experiment(place, system=str(system)))
    yield "a system that may not be read", refused(place.as_user("run", file), system)
    trace = place.copy(place.source / TRACE, 0)
    for word in ("check", "inspect"):
        yield f"trace {word} of a trace that may not be read", refused(place.as_user("trace", word, trace), trace)
    done = place.as_user("trace", "convert", trace, "--out", place.make("converted", 0o755) / "x.swt")
    yield "trace convert of a trace that may not be read", refused(done, trace)
    file = place.write("names_trace.json", experiment(place, workload={"type": "trace", "files": [str(trace)], "ranks": 8}))
    yield "a workload whose trace may not be read", refused(place.as_user("run", file), trace)
    locked = place.make("locked", 0)
    yield "a folder that may not be entered", refused(place.as_user("report", locked / "run"), locked)


def commands(place, out):
    """All commands that write, with `out` as their output folder."""
    file = place.write("experiment.json", experiment(place))
    sweep = place.write("sweep.json", {
        "name": "s", "experiment": experiment(place), "axes": [{"name": "n", "pointer": "/workload/ranks", "values": [2, 4]}]})
    plan = place.write("plan.json", experiment(
        place, causes=False, planner={"global_batch": 8, "gpus": 2},
        workload={"type": "training", "network": {"type": "gpt", "layers": 2, "hidden": 256, "heads": 4, "sequence": 128}},
        scenarios=[{"name": "ring"}]))
    return {
        "run": ["run", file, "--out", out], "sweep": ["sweep", sweep, "--out", out], "plan": ["plan", plan, "--out", out],
        "trace convert": ["trace", "convert", place.source / TRACE, "--out", out / "x.swt"],
        "new": ["new", "experiment", "--system", place.source / "configs/systems/hgx_h100.json", "-o", out / "new.json"],
    }


def unwritable(place):
    closed = place.make("closed", 0o555)
    for name, words in commands(place, closed).items():
        findings = refused(place.as_user(*words), closed)
        findings += [f"leaves {p.name}" for p in closed.iterdir()]
        yield f"{name} into a folder that may not be written", findings
    for name, words in commands(place, closed / "new").items():
        if name in ("trace convert", "new"):
            continue  # these create no folder
        yield f"{name} into a folder that may not be made", refused(place.as_user(*words), closed)


def finished(place, out):
    """Runs an experiment and a sweep into folders below `out`. Returns all commands."""
    words = commands(place, out)
    for name in ("run", "sweep"):
        words[name][-1] = out / name
        done = place.as_user(*words[name])
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
    return words


def read_only(place):
    """Cases on a file system that is mounted read-only."""
    mount = place.make("mounted", 0o755)
    with small_disk(mount):
        place.own(mount, 0o755)
        words = finished(place, mount)
        before = {name: files_of(mount / name) for name in ("run", "sweep")}
        subprocess.run(["mount", "-o", "remount,ro", mount], check=True)
        why = "Read-only file system"
        for name in ("run", "sweep"):
            done = place.as_user("report", "--text", mount / name)
            yield f"report --text of a {name} that may only be read", [] if done.returncode == 0 else [done.stderr]
            yield f"report of a {name} that may only be read", refused(place.as_user("report", mount / name), mount / name, why)
            yield f"{name} again where it may only be read", refused(place.as_user(*words[name]), mount / name, why)
        for name in ("plan", "trace convert", "new"):
            yield f"{name} where it may only be read", refused(place.as_user(*words[name]), mount, why)
        after = {name: files_of(mount / name) for name in ("run", "sweep")}
        yield "results that may only be read are as before", [] if after == before else ["they are not"]
        subprocess.run(["mount", "-o", "remount,rw", mount], check=True)
