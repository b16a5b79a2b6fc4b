# SPDX-License-Identifier: Apache-2.0
"""A clock that jumps: the wall clock moves by years while commands run (libfaketime), and files have times far off."""
import contextlib
import glob
import os
import threading
import time

from subjects import disturbed

LIBRARY = "/usr/lib/*/faketime/libfaketime.so.1"
YEAR = 365 * 86400
TIMES = {"1970": 1, "in ten years": time.time() + 10 * YEAR}


def library():
    """Path of libfaketime from Debian's package faketime; empty if it is not installed."""
    return next(iter(sorted(glob.glob(LIBRARY))), "")


@contextlib.contextmanager
def jumping(folder):
    """Environment variables under which the wall clock jumps by years, fifty times a second. The monotonic clock is
    not changed, since the system guarantees it."""
    told = folder / "clock"
    stop = threading.Event()

    def write(text):
        partial = folder / "clock.next"
        partial.write_text(text + "\n")
        partial.rename(told)

    def jump():
        while not stop.is_set():
            for text in ("+10y", "-20y", "+0", "-40y"):
                write(text)
                time.sleep(0.02)

    write("+0")
    thread = threading.Thread(target=jump)
    thread.start()
    try:
        yield os.environ | {
            "LD_PRELOAD": library(), "FAKETIME_TIMESTAMP_FILE": str(told), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    finally:
        stop.set()
        thread.join()


def cases(program, source, folder):
    for kind in disturbed(program).values():
        subject = kind(program, source, folder / kind.name.replace(" ", "_"))
        subject.prepare()
        if library():
            with jumping(subject.folder) as environment:
                subject.before()
                findings = subject.finish(env=environment)
            yield f"{subject.name} while the clock jumps", findings
        for name, moment in TIMES.items():
            for path in (subject.out, *subject.out.iterdir()):
                os.utime(path, (moment, moment))
            yield f"{subject.name} over files of {name}", subject.finish()
        subject.clear()
