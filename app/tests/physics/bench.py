# SPDX-License-Identifier: Apache-2.0
"""Where probes are run: the program, its answers kept, and the experiments that probes begin from."""
import concurrent.futures
import copy
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading

LIMIT = 300  # seconds that one run may take


class Refused(Exception):
    """The program ended with an error; the text is what it said."""


class Bench:
    """Runs experiments, each once."""

    def __init__(self, program, source):
        self.program, self.source = pathlib.Path(program).resolve(), pathlib.Path(source).resolve()
        self._kept, self._lock = {}, threading.Lock()
        self._pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def said(self, *arguments, given=None):
        """What the program prints; Refused if it fails."""
        done = subprocess.run([self.program, *map(str, arguments)], input=given, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        if done.returncode != 0:
            raise Refused(done.stderr.strip() or f"exit status {done.returncode}")
        return done.stdout

    def result(self, experiment):
        """result.json of an experiment."""
        return json.loads(self._ran(experiment)["result.json"])

    def effective(self, experiment):
        """effective-config.json of an experiment: every parameter with its value."""
        return json.loads(self._ran(experiment)["effective-config.json"])

    def kernels(self, experiment):
        """Rows of kernels.csv."""
        return list(csv.DictReader(io.StringIO(self._ran(experiment)["kernels.csv"])))

    def table(self, experiment):
        """The first table that a run prints: a dictionary a line, by the names of the columns."""
        return first_table(self._ran(experiment)["printed"])

    def description(self, system):
        """What describe prints of a system."""
        with self._lock:
            lock, answer = self._kept.setdefault(f"describe {system}", (threading.Lock(), {}))
        with lock:
            if not answer:
                answer["printed"] = self.said("describe", system)
        return answer["printed"]

    def all(self, measure, points):
        """measure(point) of all points, in their order."""
        return list(self._pool.map(measure, points))

    def _ran(self, experiment):
        """What a run of the experiment printed and wrote, by the names of its files."""
        text = json.dumps(experiment, sort_keys=True)
        with self._lock:
            lock, answer = self._kept.setdefault(text, (threading.Lock(), {}))
        with lock:
            if not answer:
                answer.update(self._run(*command(text)))
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer

    def _run(self, arguments, experiment):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            try:
                printed = self.said("run", "-", *arguments, "--out", out, given=experiment)
            except Refused as refused:
                return {"refused": str(refused)}
            return {"printed": printed} | {file.name: file.read_text("utf-8") for file in out.iterdir() if file.is_file()}


def first_table(text):
    """A dictionary a line of the first table, whose columns are at least two spaces apart."""
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if re.match(r"(scenario|run)  +\S", line))
    names = [name for name in lines[at].split("  ") if name.strip()]
    rows = []
    for line in lines[at + 1:]:
        if not line.strip():
            break
        rows.append(dict(zip((n.strip() for n in names), (c.strip() for c in line.split("  ") if c.strip()))))
    return rows


def turned(experiment, pointer, value):
    """The experiment with a value replaced, as by --set: also in the files that it names."""
    out = copy.deepcopy(experiment)
    out.setdefault("$set", {})[pointer] = value
    return out


def command(text):
    """The arguments of --set of an experiment as probes write it, and the experiment without them."""
    experiment = json.loads(text)
    arguments = []
    for pointer, value in experiment.pop("$set", {}).items():
        arguments += ["--set", f"{pointer}={value if isinstance(value, str) else json.dumps(value)}"]
    return arguments, json.dumps(experiment)
