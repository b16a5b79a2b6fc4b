#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed headers and libraries suffice for other programs: installs them into a folder, then builds and runs a
project there that adds a reduction policy and a topology family, alone and in experiments' files, a mode and a place of
reduction units, and a probe.

usage: consumer_test.py CMAKE BUILD_DIRECTORY COMPILER SANITIZERS
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CMAKE, BUILD, COMPILER, SANITIZERS = sys.argv[1:]
SOURCE = pathlib.Path(__file__).resolve().parent / "consumer"
SYSTEMS = SOURCE.parents[2] / "configs/systems"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def table(program, folder, topology, **changes):
    """Runs an experiment on this topology: what it prints."""
    system = {"name": "mine", "gpu": str(SYSTEMS / "gpus/h100.json"), "topology": topology,
              "collectives": str(SYSTEMS / "hgx_h100.json") + "#/collectives"}
    path = folder / "experiment.json"
    path.write_text(json.dumps({"name": "mine", "system": system, **changes}), encoding="utf-8")
    return run(program, path)


def check_experiments(program, folder):
    """The file names the new topology and the new policy; everything else is the simulator's."""
    link = {"lane_bandwidth": "25 GB/s"}
    cube = {"type": "hypercube", "dimensions": 3, "gpu_link": link, "link": link}
    said = table(program, folder, cube, workload={"type": "collective", "size": "16 MiB"},
                 scenarios=[{"name": "ring", "all_reduce": {"algorithm": "ring"}}])
    print(said, end="")
    assert "8 ranks" in said, said
    # A ring's bus bandwidth is what a link carries, less headers and the way there.
    bandwidth = float(re.search(r"^ring .* ([0-9.]+)$", said, re.MULTILINE)[1])
    assert 0.7 * 25 < bandwidth <= 25, said
    star = {"type": "switched", "gpus": 8, "lanes_to_switch": [2, 2], "link": link, "switch": {
        "multicast": True, "reduction": {"entries": 4, "when_full": "fewest_operands_leave"}}}
    early = {}
    for policy in ("stall", "evict", "fewest_operands_leave"):
        star["switch"]["reduction"]["when_full"] = policy
        # One slow link: lines stay open. functional: every sum is checked bit by bit.
        said = table(program, folder, star, functional=True, workload={"type": "collective", "size": "1 MiB"},
                     faults=[{"type": "link_degraded", "component": "gpu0_to_switch0", "bandwidth_ppm": 100_000}],
                     scenarios=[{"name": "push", "all_reduce": {"algorithm": "in_switch", "mode": "push"}}])
        early[policy] = int(re.search(r"push: (\d+) lines left early", said)[1])
    print(early)
    assert early["stall"] == 0 and early["evict"] > 0 and early["fewest_operands_leave"] > 0, early
    assert early["fewest_operands_leave"] != early["evict"], early
    cube["dimension"] = cube.pop("dimensions")
    try:
        table(program, folder, cube, workload={"type": "collective", "size": "16 MiB"})
        raise SystemExit("a wrong key of the new topology was accepted")
    except AssertionError as refused:
        assert '/dimension: unknown key, did you mean "dimensions"?' in str(refused), refused


def check_mode_and_place(program, folder):
    """A mode and a place that the file names: sums are checked bit by bit, and the units that work are those meant."""
    link = {"lane_bandwidth": "25 GB/s"}

    def pushes(mode, algorithm="in_switch", **unit):
        star = {"type": "switched", "gpus": 8, "lanes_to_switch": [2, 2, 2, 2], "link": link,
                "switch": {"multicast": True, "reduction": {"timeout": "0 us", **unit}}}
        said = table(program, folder, star, functional=True, workload={"type": "collective", "size": "4 MiB"},
                     scenarios=[{"name": "ring", "all_reduce": {"algorithm": "ring"}},
                                {"name": "ours", "all_reduce": {"algorithm": algorithm, "registered": True, "mode": mode}}])
        time = re.search(r"^ours .*?([0-9.]+) us", said, re.MULTILINE)
        return float(time[1]), int(re.search(r"ours: \d+ lines left early, (\d+) units added", said)[1])

    every, units = pushes("push")
    one, of_one = pushes("one_home")
    placed, of_placed = pushes("push", place="every_second")
    print(f"push {every} us by {units} units, one_home {one} us by {of_one}, every_second {placed} us by {of_placed}")
    # A unit stands at each switch's port to each member: one home leaves one a switch, every second switch half.
    assert (units, of_one, of_placed) == (32, 4, 16), (units, of_one, of_placed)
    # The units of one home take all operands of all eight members, one after another.
    assert one > 4 * every, (one, every)
    assert 1.5 * every < placed < 2.5 * every, (placed, every)
    for wrong, why in (({"timeout": "20 us"}, "one_home merges no parts"),
                       ({"algorithm": "auto"}, "a mode of a program's own is one of in_switch")):
        try:
            pushes("one_home", **wrong)
        except AssertionError as refused:
            assert why in str(refused), refused
        else:
            raise SystemExit(f"one_home ran in spite of {wrong}")


def check_probe(program, folder):
    """A probe sees every packet and kernel of an exact simulation, as the statistics count them, and changes nothing."""
    path = folder / "watched.json"
    network = {"transformer": {"blocks": 2, "hidden": 512, "sequence": 128}}
    path.write_text(json.dumps({
        "name": "watched", "system": str(SYSTEMS / "hgx_h100.json"), "exact": True,
        "workload": {"type": "training", "strategy": "data_parallel", "ranks": 4, "batch": 1, **network},
        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]}), encoding="utf-8")
    said = run(program, path)
    print(said, end="")
    seen = re.search(r"probe: (\d+) packets over (\d+) links, (\d+) bytes, (\d+) kernels, (\d+) collectives", said)
    counted = re.search(r"links: (\d+) packets, (\d+) bytes", said)
    assert seen and counted, said
    assert seen[1] == counted[1] and seen[3] == counted[2] and int(seen[1]) > 0, said
    assert int(seen[4]) > 0 and int(seen[5]) > 0, said


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
        assert "in our place 1 of four routers added" in said, said
        assert "992 packets arrived of 992, at most 7 hops" in said, said
        assert '/dimension: unknown key, did you mean "dimensions"?' in said, said
        print(said, end="")
        check_experiments(folder / "build/run_experiment", folder)
        check_mode_and_place(folder / "build/run_experiment", folder)
        check_probe(folder / "build/count", folder)


if __name__ == "__main__":
    main()
