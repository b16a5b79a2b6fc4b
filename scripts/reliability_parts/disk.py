# SPDX-License-Identifier: Apache-2.0
"""A full disk, simulated by a limit on file sizes and, where mounting is allowed, by a small file system in memory."""
import contextlib
import pathlib
import resource
import subprocess

from processes import run
from subjects import Read, disturbed, leftovers

# Shares of the space that an undisturbed run needs.
SHARES = (0.01, 0.1, 0.4, 0.7, 0.95)
# At the file size limit, SQLite reports only an input/output error.
FULL = ("No space left on device", "File too large", "cannot use the database: Input/output error")


def cases(program, source, folder, shares=SHARES):
    """Yields pairs of a case's name and its findings."""
    for kind in disturbed(program).values():
        if kind is Read:
            continue
        subject = kind(program, source, folder / kind.name.replace(" ", "_"))
        yield from limited(subject, shares)
        if can_mount(folder):
            yield from on_a_small_disk(subject, shares)
    yield from full_output(program, source)


def can_mount(folder):
    place = folder / "can_mount"
    place.mkdir(parents=True, exist_ok=True)
    try:
        with small_disk(place):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextlib.contextmanager
def small_disk(place, room=256 << 20):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", place], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def resize(place, room):
    subprocess.run(["mount", "-o", f"remount,size={room}", place], check=True, capture_output=True)


def used(folder):
    return sum(p.stat().st_blocks * 512 for p in folder.rglob("*"))


def judged(subject, done):
    """Findings about how the command ended when there was no space."""
    if done.returncode == 0:
        return [] if subject.content() == subject.whole else ["ends with 0 and is not whole"]
    wrong = [] if done.returncode == 2 else [f"ends with {done.returncode}: {done.stderr.strip()}"]
    if not any(text in done.stderr for text in FULL) or len(done.stderr.splitlines()) != 1:
        wrong.append(f"does not say that there is no room: {done.stderr.strip()}")
    wrong += subject.check()
    return wrong + (leftovers(subject.out) if subject.out.is_dir() else [])


def largest(subject):
    """Size in bytes of the largest file of an undisturbed run."""
    subject.before()
    run(subject.command())
    most = max(p.stat().st_size for p in subject.out.iterdir())
    subject.clear()
    return most


def needs(subject):
    """Disk space in bytes that an undisturbed run adds."""
    subject.before()
    command = subject.command()
    before = used(subject.out) if subject.out.exists() else 0
    run(command)
    after = used(subject.out)
    subject.clear()
    return max(after - before, 4096)


def limited(subject, shares):
    subject.prepare()
    most = largest(subject)
    for share in shares:
        limit = max(1, int(share * most))
        subject.before()
        command = subject.command()
        done = run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        findings = judged(subject, done) + subject.finish()
        subject.clear()
        yield f"{subject.name}, files of at most {limit} bytes", findings


def on_a_small_disk(subject, shares):
    place = subject.folder / "disk"
    place.mkdir()
    elsewhere = subject.out
    subject.move(place / "out")
    with small_disk(place):
        subject.prepare()
        need = needs(subject)
    for share in shares:
        with small_disk(place):
            subject.before()
            command = subject.command()
            room = (used(place) + int(share * need) + 4095) // 4096 * 4096
            resize(place, room)
            findings = judged(subject, run(command))
            resize(place, 256 << 20)
            findings += subject.finish()
            subject.clear()
            yield f"{subject.name}, a disk with {int(share * 100)} % of the room", findings
    subject.move(elsewhere)


def full_output(program, source):
    """Cases with a standard output that accepts no data."""
    experiment = source / "configs/experiments/all_reduce_256MiB.json"
    trace = source / "configs/examples/resnet50_ddp_synthetic.json.gz"
    for words in (["run", experiment], ["run", experiment, "--json"], ["trace", "inspect", trace], ["trace", "check", trace],
                  ["describe", source / "configs/systems/hgx_h100.json"], ["schema"], ["new", "experiment"], ["doctor"]):
        if not pathlib.Path("/dev/full").exists():
            return
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([program, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        wrong = [] if done.returncode == 2 else [f"ends with {done.returncode}"]
        wrong += [] if "standard output" in done.stderr else [f"does not say that its output is lost: {done.stderr}"]
        yield f"{' '.join(map(str, words[:2]))} into /dev/full", wrong
