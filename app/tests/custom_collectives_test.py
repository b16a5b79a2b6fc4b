#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Custom collectives of ASTRA-sim, a graph of Chakra a rank, run as programs with the right numbers; broken ones are told.

usage: custom_collectives_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import unittest

from chakra_messages import fields, split

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
MAKER = SOURCE / "scripts/make_custom_collective"
COLLECTIVES = {"allreduce": "all_reduce", "reducescatter": "reduce_scatter", "allgather": "all_gather",
               "alltoall": "all_to_all", "broadcast": "broadcast"}
KINDS = {kind: COLLECTIVES[of] for kind, (of, _) in runpy.run_path(str(MAKER))["KINDS"].items()}


MADE = runpy.run_path(str(MAKER))


def joined(messages):
    return b"".join(MADE["varint"](len(m)) + m for m in messages)


def rewritten(message, change):
    out = b""
    for number, wire, value in fields(message):
        value = change(number, value)
        if value is not None:
            out += MADE["text"](number, value) if wire == 2 else MADE["number"](number, value)
    return out


class CustomCollectives(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def make(self, kind, ranks, *flags):
        subprocess.run([MAKER, *flags, kind, str(ranks), self.folder / kind], check=True)

    def run_program(self, program, collective, ranks, size="1 MiB"):
        path = self.folder / "experiment.json"
        path.write_text(json.dumps({
            "name": "x", "system": str(SOURCE / "configs/systems/hgx_h100.json"), "functional": True,
            "workload": {"type": "collective", "collective": collective, "size": size, "ranks": ranks},
            "scenarios": [{"name": "p", "collectives": {collective: {"algorithm": {"program": str(program)}}}}]}))
        return subprocess.run([PROGRAM, "run", path, "--json"], capture_output=True, text=True, timeout=120, check=False)

    def test_all_kinds_leave_the_right_numbers(self):
        for kind, collective in KINDS.items():
            power = "doubling" in kind
            for ranks in (2, 4, 8) if power else (2, 3, 5, 8):
                for flags in ((), ("--chunks",)):
                    if (kind == "halving_doubling" and not flags) or (flags and kind == "direct_all_to_all"):
                        continue
                    with self.subTest(kind=kind, ranks=ranks, flags=flags):
                        for old in self.folder.glob("*.et"):
                            old.unlink()
                        self.make(kind, ranks, *flags)
                        done = self.run_program(kind, collective, ranks, "100004 B" if ranks == 5 else "1 MiB")
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_folder_and_a_first_graph_name_it_too(self):
        self.make("ring_all_gather", 4)
        for name in (".", "ring_all_gather.0.et"):
            self.assertEqual(self.run_program(name, "all_gather", 4).returncode, 0)
        self.make("ring_all_reduce", 4)
        self.assertIn("contains several collectives; expected the name of one", self.run_program(".", "all_gather", 4).stderr)

    def test_the_shipped_one_takes_as_long_as_our_ring_on_one_channel(self):
        told = json.loads(self.run_program(SOURCE / "configs/programs/chakra_ring", "all_reduce", 4, "16 MiB").stdout)
        chakra = told["scenarios"][0]["collectives"][0]["time_us"]
        ours = self.folder / "ring.json"
        ring = json.loads((SOURCE / "configs/programs/ring_all_reduce.json").read_text())
        ring["channels"] = 1
        ours.write_text(json.dumps(ring))
        told = json.loads(self.run_program(ours, "all_reduce", 4, "16 MiB").stdout)
        # Two blocks take turns where ours does both in one: no faster, and less than twice as long.
        self.assertTrue(1 <= chakra / told["scenarios"][0]["collectives"][0]["time_us"] < 2, chakra)
        made = self.folder / "ring_all_reduce"
        self.make("ring_all_reduce", 4)
        for rank in range(4):
            self.assertEqual(pathlib.Path(f"{made}.{rank}.et").read_bytes(),
                             (SOURCE / f"configs/programs/chakra_ring.{rank}.et").read_bytes())

    def test_every_broken_copy_is_caught(self):
        names = [f"chakra_ring.{rank}.et" for rank in range(4)]
        graphs = {name: split((SOURCE / "configs/programs" / name).read_bytes()) for name in names}
        broken = 0
        for name in names[:2]:
            nodes = graphs[name]
            for i in range(1, len(nodes)):
                own = [value for number, _, value in fields(nodes[i]) if number == 1] or [0]

                def without(number, value, own=own[0]):
                    return b"" if number == 5 and value == MADE["varint"](own) else value
                copies = {"left out": nodes[:i] + [rewritten(m, without) for m in nodes[i + 1:]],
                          "no receive": [*nodes[:i], re.sub(b"comm_src\x38.", b"comm_src\x38\x02", nodes[i]),
                                         *nodes[i + 1:]],
                          "waits for nothing": [*nodes[:i], rewritten(nodes[i], lambda n, v: None if n == 5 else v),
                                                *nodes[i + 1:]]}
                for how, copy in copies.items():
                    # The first send waits for nothing, and receives in order may come early.
                    if copy == nodes or (how == "waits for nothing" and b"receive" in nodes[i]):
                        continue
                    for other in names:
                        (self.folder / other).write_bytes(joined(copy if other == name else graphs[other]))
                    done = self.run_program("chakra_ring", "all_reduce", 4)
                    with self.subTest(name=name, node=i, how=how):
                        self.assertEqual(done.returncode, 2, done.stdout[:300])
                        self.assertRegex(done.stderr, r"chakra_ring.*node \d+ .*|chakra_ring: /: ")
                    broken += 1
        self.assertGreater(broken, 40)

    def test_what_is_no_collective_is_told(self):
        self.make("ring_all_reduce", 4)
        first = self.folder / "ring_all_reduce.0.et"
        right = first.read_bytes()
        for change, told in (
            (right[:-3], "ends within a message"),
            (joined(split(right)[:1]), "has no node; expected sends and receives"),
            (right.replace(b"comm_dst", b"comm_dsx"), "has no comm_dst; expected the rank at the other end"),
            (right.replace(b"comm_size", b"comm_sizx"), "has no comm_size; expected the bytes that it moves"),
            (right.replace(b"allreduce", b"allredxce"), "names the collective allreduce, but another graph names allredxce; expected the same in all graphs"),
            (joined(m if i != 1 else rewritten(m, lambda n, v: 7 if n == 3 else v) for i, m in enumerate(split(right))),
             "has the type 7; expected 5 (send), 6 (receive) or 4 (compute, a reduction)"),
            (joined([*split(right), split(right)[1]]), "appears twice; expected each id once"),
        ):
            first.write_bytes(change)
            done = self.run_program("ring_all_reduce", "all_reduce", 4)
            self.assertEqual(done.returncode, 2, told)
            self.assertIn(told, done.stderr)
        first.write_bytes(right)
        self.assertIn("made for 4 ranks, but the group has 8", self.run_program("ring_all_reduce", "all_reduce", 8).stderr)
        self.assertIn("which runs all_reduce; expected a program of all_gather", self.run_program("ring_all_reduce", "all_gather", 4).stderr)


if __name__ == "__main__":
    unittest.main()
