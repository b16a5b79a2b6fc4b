# SPDX-License-Identifier: Apache-2.0
"""Starting the program in a session of its own, killing it at a moment, and seeing who outlives it."""
import os
import pathlib
import random
import signal
import subprocess
import time


def start(words, **options):
    """The command in a session of its own, so that everything it starts can be found again."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
    return subprocess.Popen([str(word) for word in words], start_new_session=True, **options)


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=False, **options)


def living(session):
    """Processes of the session that have not ended; those that nobody has asked how they ended do not count."""
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


def memory():
    """A folder in memory, if there is one: databases wait for a disk at every commit."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def survivors(session, seconds=30.0):
    """Who of the session still lives after so long: on a loaded machine even a killed process needs its turn to end."""
    until = time.monotonic() + seconds
    while (left := living(session)) and time.monotonic() < until:
        time.sleep(0.005)
    return left


def looks_of(folder):
    """What stands in the folder and one below it: changes whenever a file comes, goes, grows or is renamed."""
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
    """When to kill: half of the time at random within the run's length, else just after the n-th change in its folder."""

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
    """Kills that one process, none of those that it started. Returns whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
