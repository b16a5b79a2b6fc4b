#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trace convert --to chakra`: the graphs are messages of MLCommons Chakra's schema (as protoc decodes them, where it is
there), and what is read back runs as the trace that they are of.

usage: chakra_output_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from chakra_messages import split

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
EXAMPLES = SOURCE / "configs/examples"
# Of mlcommons/chakra, schema/protobuf/et_def.proto: the messages' fields that matter here, by name, number and type.
SCHEMA = """syntax = "proto3";
message Meta { string version = 1; repeated Attr attr = 2; }
message Attr { string name = 1; oneof value { int32 int32_val = 7; int64 int64_val = 9; uint64 uint64_val = 13;
  bool bool_val = 27; string string_val = 29; } }
enum Type { INVALID_NODE = 0; METADATA_NODE = 1; MEM_LOAD_NODE = 2; MEM_STORE_NODE = 3; COMP_NODE = 4;
  COMM_SEND_NODE = 5; COMM_RECV_NODE = 6; COMM_COLL_NODE = 7; }
message Node { uint64 id = 1; string name = 2; Type type = 3; repeated uint64 ctrl_deps = 4;
  repeated uint64 data_deps = 5; uint64 start_time_micros = 6; uint64 duration_micros = 7; repeated Attr attr = 10; }
"""
# What ASTRA-sim's feeder takes an attribute for: of another type it is 0.
TYPES = {"is_cpu_op": "bool", "num_ops": "int64", "tensor_size": "uint64", "comm_type": "int64", "comm_size": "int64",
         "comm_priority": "int32", "comm_src": "int32", "comm_dst": "int32", "comm_tag": "int32", "pg_name": "string",
         "stream": "string", "tid": "string", "is_time_alone": "bool", "is_gap": "bool"}


def switchfold(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250, check=False)


class ChakraOutput(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def done(self, *words):
        result = switchfold(*words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def converted(self, trace):
        told = self.done("trace", "convert", trace, "--to", "chakra", "--out", self.folder / "run")
        return told, sorted(self.folder.glob("run.*.et"))

    def times(self, files):
        path = self.folder / "experiment.json"
        path.write_text(json.dumps({
            "name": "x", "system": str(SOURCE / "configs/systems/hgx_h100.json"), "causes": False,
            "workload": {"type": "trace", "files": [str(f) for f in files]},
            "scenarios": [{"name": "serial", "overlap": False}, {"name": "overlap"}]}))
        told = json.loads(self.done("run", path, "--json"))
        return [scenario["iteration_us"] for scenario in told["scenarios"]]

    def decoded(self, kind, message):
        (self.folder / "et.proto").write_text(SCHEMA)
        return subprocess.run(
            ["protoc", f"--decode={kind}", "-I", self.folder, "et.proto"], input=message, capture_output=True,
            check=True, timeout=60).stdout.decode()

    @unittest.skipUnless(shutil.which("protoc"), "no protoc (Debian's protobuf-compiler): the schema is not checked")
    def test_nodes_are_of_chakras_schema(self):
        for name in ("gpt_fully_sharded_simulated.jsonl.gz", "offload_step.jsonl"):
            graphs = self.converted(EXAMPLES / name)[1]
            first, *nodes = split(graphs[0].read_bytes())
            self.assertIn('version: "0.0.4"', self.decoded("Meta", first))
            kinds, seen = set(), set()
            for message in nodes[:60] + nodes[-20:]:
                text = self.decoded("Node", message)
                self.assertNotRegex(text, r"(?m)^ *\d+:", "has a field that the schema has not")
                seen.add(int(re.search(r"(?m)^id: (\d+)", text)[1]))
                kinds.add(re.search(r"(?m)^type: (\w+)", text)[1])
                for attribute, value in re.findall(r'name: "(\w+)"\s+(\w+)_val:', text):
                    self.assertEqual(value, TYPES[attribute], attribute)
                if "COMM_COLL_NODE" in text:
                    self.assertRegex(text, r'"comm_size"\s+int64_val: [1-9]')
                    self.assertIn('"comm_type"', text)
            self.assertEqual(kinds, {"COMP_NODE", "COMM_COLL_NODE"})
            self.assertEqual(len(seen), len(set(seen)))

    def test_what_is_read_back_runs_as_the_trace(self):
        # Whole microseconds and launch shapes are lost: kernels that never ran alone (31 and 2 % of the kernels' time)
        # get other times alone.
        for name, longer in (("gpt_fully_sharded_simulated.jsonl.gz", 0.06),
                             ("mixture_of_experts_simulated.jsonl.gz", 0.004)):
            told, graphs = self.converted(EXAMPLES / name)
            self.assertEqual(len(graphs), 4)
            self.assertIn("kernels keep their time alone, where it is known, and no launch shape", told)
            serial, overlap = self.times([EXAMPLES / name])
            serial_again, overlap_again = self.times(graphs)
            self.assertGreater(serial_again / serial, 0.998)
            self.assertLess(serial_again / serial, 1 + longer)
            self.assertAlmostEqual(overlap_again / overlap, 1, delta=0.01)

    def test_groups_and_messages_come_through(self):
        lines = [
            {"type": "trace", "version": 3, "written_by": "a test", "source": "x", "traced_ranks": 4, "world_size": 4},
            {"type": "name", "text": "ncclDevKernel"},
            {"type": "group", "name": "left", "ranks": [0, 1]}, {"type": "group", "name": "right", "ranks": [2, 3]},
            {"type": "group", "name": "all", "ranks": [0, 1, 2, 3]}]
        for rank in range(4):
            lines += [{"type": "rank", "rank": rank, "world_size": 4}, {"type": "stream", "name": "20"}]
            own = {"name": 0, "stream": 0, "datatype": "float16", "bytes": 4 << 20, "duration_ps": 10**8}
            lines += [
                {"type": "collective", **own, "kind": "all_gather", "group": rank // 2, "sequence": 0},
                {"type": "collective", **own, "kind": "gather", "group": 2, "sequence": 0, "after": [1]},
                {"type": "collective", **own, "kind": "all_reduce", "group": 2, "sequence": 1, "after": [1]}]
            if rank < 2:
                lines += [{"type": "send" if rank == 0 else "receive", "name": 0, "stream": 0, "peer": 1 - rank,
                           "bytes": 1 << 20, "tag": 1 << 40, "duration_ps": 10**7}]
        lines.append({"type": "end", "records": len(lines)})
        trace = self.folder / "small.jsonl"
        trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
        told, graphs = self.converted(trace)
        self.assertIn("4 collectives are a gather, which ASTRA-sim does not run", told)
        groups = self.folder / "run.groups.json"
        self.assertEqual(json.loads(groups.read_text()), {"1": [0, 1], "2": [2, 3]})
        for a, b in zip(self.times([trace]), self.times([*graphs, groups])):
            self.assertAlmostEqual(b / a, 1, delta=0.002)
        again = self.folder / "again.jsonl"
        self.done("trace", "convert", *graphs, groups, "--out", again)
        records = [json.loads(line) for line in again.read_text().splitlines()]
        self.assertEqual([r["bytes"] for r in records if r["type"] == "collective"], [4 << 20] * 12)
        self.assertEqual([r.get("tag", 0) for r in records if r["type"] in ("send", "receive")], [0, 0])

    def test_a_folder_that_is_not_there_is_told(self):
        result = switchfold("trace", "convert", EXAMPLES / "offload_step.jsonl", "--to", "chakra", "--out",
                            self.folder / "none/run")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"none/run\.0\.et: /: cannot write the trace: No such file")
        wrong = switchfold("trace", "convert", EXAMPLES / "offload_step.jsonl", "--to", "xml", "--out", "x")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("chakra", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
