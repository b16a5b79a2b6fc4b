#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed headers and libraries suffice for other programs: installs them into a folder, then builds and runs a
project there that adds a reduction policy and a topology family.

usage: consumer_test.py CMAKE BUILD_DIRECTORY COMPILER SANITIZERS
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

CMAKE, BUILD, COMPILER, SANITIZERS = sys.argv[1:]
SOURCE = pathlib.Path(__file__).resolve().parent / "consumer"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix, source = folder / "prefix", folder / "source"
        run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "development")
        assert (prefix / "include/switchfold/interconnect/reduction_policy.h").is_file()
        left = [str(p) for p in prefix.rglob("*") if "tests" in p.relative_to(prefix).parts]
        assert not left, left
        # The project is built outside the repository, so that it cannot pick up any of its files.
        shutil.copytree(SOURCE, source)
        flags = [f"-DCMAKE_CXX_FLAGS=-fsanitize={SANITIZERS}"] if SANITIZERS else []
        run(CMAKE, "-S", source, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Release", *flags)
        run(CMAKE, "--build", folder / "build")
        said = run(folder / "build/consumer")
        assert "0 when they wait" in said, said
        assert "992 packets arrived of 992, at most 7 hops" in said, said
        assert '/dimension: unknown key, did you mean "dimensions"?' in said, said
        print(said, end="")


if __name__ == "__main__":
    main()
