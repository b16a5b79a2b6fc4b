#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian package, unpacked into a folder: the program runs the packaged example, Python finds the package, and the
manual pages and the completion are there. With --bare, installs it into a new Debian (debootstrap) and runs the example
there; then the wheel is built and installed there and runs a notebook, and the site builds.

usage: package_test.py CPACK BUILD_DIRECTORY [--bare]      exits with 77 (skipped) where a tool is missing
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CPACK, BUILD = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = "usr/share/switchfold/configs/experiments/example.json"


def run(*command, **options):
    # Only the shipped measurements: a larger set may exceed a tolerance.
    environment = {key: value for key, value in os.environ.items() if key != "SWITCHFOLD_DATA"}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          **{"env": environment, **options})
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def packed(folder):
    run(CPACK, "--config", BUILD / "CPackConfig.cmake", "-B", folder)
    found = list(folder.glob("*.deb"))
    assert len(found) == 1, found
    return found[0]


def unpack(package, tree):
    """As dpkg lays it out in a root of its own, with its checksums verified; a plain extraction where that is not allowed.
    Neither runs the package's scripts, which need a shell there: --bare does."""
    if os.geteuid() != 0:
        run("dpkg-deb", "-x", package, tree)
        return
    for folder in ("info", "updates", "triggers"):
        (tree / "var/lib/dpkg" / folder).mkdir(parents=True)
    (tree / "var/lib/dpkg/status").touch()
    run("dpkg", "--root", tree, "--force-depends", "--unpack", package)
    assert run("dpkg", "--root", tree, "--verify", "switchfold") == ""


def check_control(package):
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", package).splitlines() if ": " in line)
    for library in ("libsystemc", "libsqlite3", "libfmt", "zlib1g", "libzstd"):
        assert library in fields["Depends"], fields
    assert package.name == f"switchfold_{fields['Version']}_{fields['Architecture']}.deb", package
    return fields["Version"]


def check_program(tree, version):
    program = tree / "usr/bin/switchfold"
    assert run(program, "--version") == f"switchfold {version}\n"
    out = tree / "out"
    assert "in_switch" in run(program, "run", tree / EXAMPLE, "--out", out)
    assert (out / "result.json").is_file()
    assert "replayable" in run(program, "trace", "check", tree / "usr/share/switchfold/configs/examples/resnet50_ddp_synthetic.json.gz")
    # Outside the repository, the program finds the shipped files in the folders above it.
    assert "memory" in run(program, "validate", "memory", cwd=tree / "out")
    assert "Usage" in run(tree / "usr/bin/switchfold-capture", "--help")


def check_python(tree, version):
    code = ("import switchfold as s; assert s.__version__ == s.program_version() == '" + version + "'; "
            "r = s.run(s.shipped('experiments/all_reduce_256MiB.json'), {'/workload/size': '1 MiB'}); print(s.__file__)")
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tree / "usr/lib/python3/dist-packages")}
    assert str(tree) in run(sys.executable, "-c", code, env=environment, cwd=tree)


def check_pages(tree):
    for page in ("README.md", "docs/tutorial.md", "configs/README.md", "docs/pictures/waterfall.svg", "copyright"):
        assert (tree / "usr/share/doc/switchfold" / page).exists(), page
    completion = tree / "usr/share/bash-completion/completions/switchfold"
    script = f'. {completion}; COMP_WORDS=(switchfold plan --ex); COMP_CWORD=2; _switchfold; echo "${{COMPREPLY[*]}}"'
    assert run("bash", "-c", script) == "--executor\n"
    if shutil.which("help2man"):
        pages = sorted(page.name for page in (tree / "usr/share/man/man1").iterdir())
        assert {"switchfold.1", "switchfold-run.1", "switchfold-trace-check.1"} <= set(pages), pages
        if shutil.which("man"):
            assert "--timeline" in run("man", "-l", tree / "usr/share/man/man1/switchfold-run.1", env={**os.environ, "MANPAGER": "cat"})


def check_bare(package, folder):
    """Installs the package into a Debian that has only its essential packages."""
    system = folder / "debian"
    mirror = os.environ.get("SWITCHFOLD_MIRROR", "http://deb.debian.org/debian")
    run("debootstrap", "--variant=minbase", "bookworm", system, mirror)
    shutil.copy(package, system / "tmp")

    def there(*command):
        return run("chroot", system, "env", "DEBIAN_FRONTEND=noninteractive", "HOME=/root", *command)

    run("mount", "-t", "proc", "proc", system / "proc")  # as every machine that runs has it
    try:
        check_there(package, system, there)
    finally:
        run("umount", system / "proc")


def check_there(package, system, there):
    there("apt-get", "install", "-y", "--no-install-recommends", f"/tmp/{package.name}")
    assert "in_switch" in there("switchfold", "run", "/" + EXAMPLE, "--out", "/tmp/out")
    assert (system / "tmp/out/result.json").is_file()
    print("the package is installed and ran the example", flush=True)
    check_bare_wheel(system, there)
    print("the wheel is installed and ran a notebook", flush=True)
    check_bare_site(system, there)
    print("the site builds", flush=True)


def check_bare_wheel(system, there):
    """The wheel in an environment of its own. --ignore-installed: the package has the same Python part, which must not be
    what answers."""
    there("apt-get", "install", "-y", "--no-install-recommends", "python3-build", "python3-setuptools", "python3-wheel",
          "python3-venv", "python3-nbconvert", "python3-ipykernel", "jupyter-client", "python3-pandas", "python3-matplotlib")
    shutil.copytree(ROOT / "python", system / "tmp/python", ignore=shutil.ignore_patterns("__pycache__", "build", "dist"))
    shutil.copy(ROOT / "CMakeLists.txt", system / "tmp")  # which the version stands in
    there("sh", "-c", "cd /tmp/python && python3 -m build --wheel --no-isolation")
    there("python3", "-m", "venv", "--system-site-packages", "/tmp/own")
    there("sh", "-c", "/tmp/own/bin/pip install --no-index --no-deps --ignore-installed /tmp/python/dist/switchfold-*.whl")
    assert "/tmp/own" in there("sh", "-c", "cd /tmp && own/bin/python -c 'import switchfold; print(switchfold.__file__)'")
    # The kernel is Debian's Python, and looks there first.
    there("sh", "-c", "cd /tmp && PYTHONPATH=$(echo /tmp/own/lib/python3*/site-packages) python3 -m nbconvert --to notebook --execute --output-dir /tmp/books "
          "/usr/share/switchfold/notebooks/replay_my_trace.ipynb")
    assert "image/png" in (system / "tmp/books/replay_my_trace.ipynb").read_text(encoding="utf-8")


def check_bare_site(system, there):
    there("apt-get", "install", "-y", "--no-install-recommends", "mkdocs", "mkdocs-material", "doxygen")
    shutil.copytree(ROOT, system / "tmp/switchfold", ignore=shutil.ignore_patterns("build", ".git", "runs", "__pycache__"))
    there("/tmp/switchfold/scripts/site", "--out", "/tmp/site")
    assert (system / "tmp/site/html/docs/results.html").is_file()


def main():
    bare = "--bare" in sys.argv
    for tool in ["dpkg-deb", "dpkg-shlibdeps"] + (["debootstrap"] if bare else []):
        if shutil.which(tool) is None:
            print(f"skipped: no {tool} here")
            return 77
    if bare and os.geteuid() != 0:
        print("skipped: debootstrap wants root")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = packed(folder / "package")
        version = check_control(package)
        if bare:
            check_bare(package, folder)
            return 0
        tree = folder / "tree"
        unpack(package, tree)
        check_program(tree, version)
        check_python(tree, version)
        check_pages(tree)
    return 0


if __name__ == "__main__":
    sys.exit(main())
