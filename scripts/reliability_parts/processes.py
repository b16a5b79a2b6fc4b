# SPDX-License-Identifier: Apache-2.0
"""Starts the program in its own session, kills it at a chosen moment, and finds the processes that survive it."""
import os
import pathlib
import random
import signal
import subprocess
import time


def start(words, **options):
    """Starts the command in its own session, so that all its descendants can be found."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
    return subprocess.Popen([str(word) for word in words], start_new_session=True, **options)


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=False, **options)


def living(session):
    """Running processes of the session, without zombies."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state not in "ZX":
            found.append(int(entry.name))
    return found


def parent(pid):
    """The id of a process's parent; 0 if it is gone."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def memory():
    """A folder in memory, if there is one: on a disk, databases would wait at every commit."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def survivors(session, seconds=30.0):
    """Processes of the session that survive this time: on a loaded machine, even a killed process takes time to end."""
    until = time.monotonic() + seconds
    while (left := living(session)) and time.monotonic() < until:
        time.sleep(0.005)
    return left


def looks_of(folder):
    """The state of the folder and its subfolders: differs whenever a file is created, deleted, renamed or resized."""
    looks = []

    def look(at, deeper):
        with os.scandir(at) as entries:
            for entry in list(entries):
                state = entry.stat(follow_symlinks=False)
                looks.append((entry.path, state.st_ino, state.st_size))
                if deeper and entry.is_dir(follow_symlinks=False):
                    look(entry, False)

    try:
        look(folder, True)
    except OSError:
        looks.append("changing")
    return sorted(map(str, looks))


class Moments:
    """When to kill: in half of the rounds at a random time within the run, else just after the n-th folder change."""

    def __init__(self, chance: random.Random):
        self.chance = chance

    def wait(self, process, seconds, folder):
        if self.chance.random() < 0.5:
            self._sleep(process, self.chance.uniform(0, 1.1 * seconds))
            return
        changes = self.chance.randint(1, 12)
        looks = looks_of(folder)
        while changes > 0 and process.poll() is None:
            now = looks_of(folder)
            changes -= now != looks
            looks = now
        self._sleep(process, self.chance.uniform(0, 0.002))

    @staticmethod
    def _sleep(process, seconds):
        until = time.monotonic() + seconds
        while process.poll() is None and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.01))


def kill(pid):
    """Kills this process only, not its children. Returns whether it existed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
