#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other tools write goes in by the command line: programs, NCCL's environment, logs and topologies.

usage: doors_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
CORPUS = SOURCE / "fuzz/doors/corpus"


def switchfold(*arguments):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=250, check=False)


class Doors(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def done(self, *arguments):
        result = switchfold(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def experiment(self, scenarios, system="hgx_h100", **workload):
        path = self.folder / "experiment.json"
        path.write_text(json.dumps({
            "name": "doors", "system": str(SOURCE / f"configs/systems/{system}.json"),
            "workload": {"type": "collective", "size": "1 MiB", "ranks": 8, **workload}, "scenarios": scenarios}))
        return path

    def collectives(self, scenarios, **workload):
        told = json.loads(self.done("run", self.experiment(scenarios, **workload), "--json"))
        return [scenario["collectives"][0] for scenario in told["scenarios"]]

    def refused(self, scenarios, **workload):
        result = switchfold("run", self.experiment(scenarios, **workload))
        self.assertEqual(result.returncode, 2, result.stderr)
        return result.stderr

    def test_the_shipped_experiment_runs_programs(self):
        told = json.loads(self.done("run", SOURCE / "configs/experiments/all_reduce_program.json", "--json"))
        times = {s["name"]: s["collectives"][0]["time_us"] for s in told["scenarios"]}
        self.assertAlmostEqual(times["ring"] / times["NCCL's ring"], 1, delta=0.02)
        self.assertLess(times["in switch"], times["ring"])

    def test_a_sweep_goes_over_a_folder_of_programs(self):
        sweep = self.folder / "sweep.json"
        sweep.write_text(json.dumps({
            "name": "programs",
            "experiment": json.loads(self.experiment([{"name": "x", "all_reduce": {"algorithm": {"program": "x.json"}}}]).read_text()),
            "axes": [{"name": "program", "pointer": "/scenarios/0/all_reduce/algorithm/program",
                      "files": str(SOURCE / "configs/programs/*_all_reduce.json")}]}))
        self.done("sweep", sweep, "--out", self.folder / "out")
        rows = (self.folder / "out/results.csv").read_text().splitlines()
        self.assertEqual(len(rows), 6)
        self.assertIn("torus_all_reduce", "".join(rows))

    def test_parts_of_a_program_overlap_between_switch_and_network(self):
        shipped = SOURCE / "configs/programs/in_switch_ring_all_reduce.json"
        (self.folder / "whole.json").write_text(shipped.read_text().replace("1 + (m > 1)", "1"))
        experiment = self.experiment(
            [{"name": "parts", "all_reduce": {"algorithm": {"program": str(shipped)}}},
             {"name": "whole", "all_reduce": {"algorithm": {"program": "whole.json"}}},
             {"name": "built in", "all_reduce": {"algorithm": "in_switch_ring"}}],
            system="dgx_h100_ndr", size="64 MiB", ranks=16)
        told = json.loads(self.done("run", experiment, "--json"))["scenarios"]
        parts, whole, built_in = (scenario["collectives"][0]["time_us"] for scenario in told)
        self.assertLess(parts, 0.75 * whole)
        # That one copies to and from NCCL's buffers.
        self.assertLess(parts, built_in)
        wrong = shipped.read_text().replace('"turn": "p"', '"turn": "p + 9"')
        (self.folder / "p.json").write_text(wrong)
        result = switchfold("run", self.experiment(
            [{"name": "x", "all_reduce": {"algorithm": {"program": "p.json"}}}], system="dgx_h100_ndr", ranks=16))
        self.assertEqual(result.returncode, 2)
        self.assertIn('waits for step "sum" of block "reduce" at 0, which the rank does not have', result.stderr)

    def test_wrong_programs_are_told_at_load(self):
        scenario = [{"name": "x", "all_reduce": {"algorithm": {"program": "p.json"}}}]
        self.assertIn("p.json: /: does not exist; expected a program", self.refused(scenario))
        (self.folder / "p.json").write_text(json.dumps({
            "collective": "all_reduce", "chunks": 1,
            "blocks": [{"send": "(r + 1) % n", "steps": [{"do": "send", "chunk": 0}]}]}))
        self.assertIn("1 send and 0 receive; expected one block that sends and one that receives", self.refused(scenario))
        (self.folder / "p.json").write_text((CORPUS / "msccl/two.xml").read_text())
        self.assertIn("made for 2 ranks, but the group has 8", self.refused(scenario))
        self.assertIn("is the program p.json, which runs all_reduce; expected a program of all_gather", self.refused(
            [{"name": "x", "collectives": {"all_gather": {"algorithm": {"program": "p.json"}}}}], collective="all_gather"))
        self.assertIn('expected {"program": FILE}', self.refused([{"name": "x", "all_reduce": {"algorithm": "program"}}]))

    def test_an_environment_bounds_what_is_chosen(self):
        free, without, ring, few = self.collectives([
            {"name": "free"},
            {"name": "without", "nccl_environment": {"NCCL_ALGO": "^NVLS,NVLSTree"}},
            {"name": "ring", "nccl_environment": {"NCCL_ALGO": "allreduce:ring", "NCCL_PROTO": "Simple"}},
            {"name": "few", "nccl_environment": {"NCCL_NVLS_ENABLE": "0", "NCCL_MAX_NCHANNELS": "2"}},
        ], size="256 MiB")
        self.assertEqual(free["algorithm"], "in_switch")
        self.assertEqual(without["algorithm"], "ring")
        self.assertEqual((ring["algorithm"], ring["protocol"]), ("ring", "simple"))
        self.assertEqual((few["algorithm"], few["channels"]), ("ring", 2))
        self.assertGreater(few["time_us"], 2 * without["time_us"])

    def test_a_buffer_size_changes_the_machine(self):
        usual, small = self.collectives([
            {"name": "usual", "all_reduce": {"algorithm": "ring", "protocol": "simple"}},
            {"name": "small", "all_reduce": {"algorithm": "ring", "protocol": "simple"},
             "nccl_environment": {"NCCL_BUFFSIZE": "65536"}}], size="64 MiB")
        self.assertGreater(small["time_us"], 1.05 * usual["time_us"])

    def test_a_tuners_table_chooses(self):
        (self.folder / "tuner.csv").write_text("allreduce,0,2097152,tree,ll,4,-1,-1\nallreduce,2097153,4294967295,ring,ll128,-1,2,-1\n")
        environment = {"NCCL_TUNER_CONFIG_FILE": "tuner.csv"}
        one = self.collectives([{"name": "x", "nccl_environment": environment}])[0]
        self.assertEqual((one["algorithm"], one["protocol"], one["channels"]), ("tree", "ll", 4))
        other = self.collectives([{"name": "x", "nccl_environment": environment}], size="256 MiB")[0]
        self.assertEqual(other["algorithm"], "in_switch")
        for row, told in (("allreduce,0,2097152,pot,ll,4,-1,-1", 'tuner.csv: line 1: has "pot" in column 4; expected one of: tree'),
                          ("allreduce,0,2097152,pat,ll,4,-1,-1", "tuner.csv: /: has no row of what is simulated; expected a tuner's table")):
            (self.folder / "tuner.csv").write_text(row + "\n")
            self.assertIn(told, self.refused([{"name": "x", "nccl_environment": environment}]))

    def test_other_variables_are_refused_by_name(self):
        for variables, told in (
            ({"NCCL_P2P_DISABLE": "1"}, "/nccl_environment/NCCL_P2P_DISABLE: does not change what is simulated; expected a topology"),
            ({"NCCL_ALG": "Ring"}, 'not a variable that changes what is simulated, did you mean "NCCL_ALGO"?; expected one of: '),
            ({"NCCL_ALGO": "Rings"}, '"Rings" is not one of tree, ring'),
            ({"NCCL_ALGO": "PAT"}, "of which nothing is simulated"),
            ({"NCCL_MAX_CTAS": "0"}, "expected a whole number from 1 to 64"),
        ):
            self.assertIn(told, self.refused([{"name": "x", "nccl_environment": variables}]))

    def test_describe_tells_choices_as_nccls_log(self):
        told = self.done("describe", "hgx_h100", "--env", "NCCL_ALGO=^NVLS", "--env", "NCCL_PROTO=LL128")
        self.assertIn("NCCL INFO AllReduce: 1048576 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..", told)
        self.assertNotIn("NVLS", told)
        self.assertIn("Algo NVLS proto SIMPLE", self.done("describe", "hgx_h100", "--env", "NONE"))
        # Never faster than a ring inside a machine, but asked for.
        self.assertIn("AllReduce: 65536 Bytes -> Algo TREE proto LL ", self.done("describe", "hgx_h100", "--env", "NCCL_ALGO=Tree"))
        self.assertEqual(switchfold("describe", "hgx_h100", "--env", "X").returncode, 2)
        eight, padded = (self.done("describe", "hgx_h100", "--env", f"NCCL_NVLS_NCHANNELS={n}") for n in ("8", "08"))
        self.assertEqual(eight, padded)
        two, eight = (self.done("describe", "dgx_h100_ndr", "--env", "NONE", "--set", f"/topology/nodes={n}")
                      for n in (2, 8))
        self.assertNotEqual(two, eight)

    def test_a_log_of_calls_tells_the_ranks(self):
        log = self.folder / "calls.log"
        log.write_text("n:1:1 [0] NCCL INFO NCCL version 2.19.3+cuda12.3\n"
                       "n:1:1 [0] NCCL INFO AllReduce: opCount 0 count 262144 datatype 7 op 0 root 0 comm 0x5 [nranks=8] stream 0x5\n"
                       "n:1:9 [0] NCCL INFO 1048576 Bytes -> Algo 1 proto 0 time 26.7\n")
        self.assertIn("version 2.19.3+cuda12.3, 8 ranks", self.done("trace", "inspect", log))

    def test_a_log_is_held_against_ours(self):
        log = CORPUS / "nccl_log/small.log"
        self.assertIn("version 2.23.4+cuda12.6, 8 ranks on 1 machines\n  NCCL_ALGO=^NVLS", self.done("trace", "inspect", log))
        told = self.done("trace", "inspect", log, "--system", "hgx_h100")
        self.assertRegex(told, r"AllReduce +1048576 +RING LL128, 16 channels")
        self.assertRegex(told, r"AllGather +4096 +RING LL ")
        self.assertIn("of 2 choices are other", told)
        # What `describe` writes comes through unchanged.
        own = self.folder / "own.log"
        own.write_text(self.done("describe", "hgx_h100", "--env", "NONE"))
        self.assertIn("0 of 60 choices are other", self.done("trace", "inspect", own, "--system", "hgx_h100"))

    def test_lines_of_older_nccl_name_no_collective(self):
        log = self.folder / "old.log"
        line = "host:1:1 [0] NCCL INFO {} Bytes -> Algo {} proto {} time 54.7\n"
        log.write_text("host:1:1 [0] NCCL INFO NCCL version 2.19.3+cuda12.2\n" + line.format(262144, 0, 1) + line.format(805306368, 1, 2))
        told = self.done("trace", "inspect", log, "--system", "hgx_h100")
        self.assertIn("name no collective, as older NCCL writes them, are taken for all-reduces", told)
        self.assertRegex(told, r"AllReduce +262144 +TREE LL128 ")
        self.assertRegex(told, r"AllReduce +805306368 +RING SIMPLE ")
        # Where the calls are logged too, they say it.
        log.write_text("host:1:1 [0] NCCL INFO AllGather: opCount 7 sendbuff 0x1 count 9\n" + line.format(4096, 1, 0))
        told = self.done("trace", "inspect", log, "--system", "hgx_h100")
        self.assertRegex(told, r"AllGather +4096 +RING LL ")
        self.assertNotIn("taken for", told)

    def test_a_size_that_ran_in_two_ways_is_told_of_both(self):
        log = self.folder / "two.log"
        line = "host:1:1 [0] NCCL INFO AllReduce: 1048576 Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{0..{}}}\n"
        log.write_text("host:1:1 [0] NCCL INFO NCCL version 2.23.4+cuda12.6\n" + line.format("RING", "LL128", 15) * 2
                       + line.format("TREE", "LL", 3))
        told = self.done("trace", "inspect", log, "--system", "hgx_h100")
        self.assertIn("AllReduce of 1048576 bytes and maybe others ran in several ways", told)
        self.assertRegex(told, r"AllReduce +1048576 +RING LL128, 16 channels")
        self.assertRegex(told, r"AllReduce +1048576 +TREE LL, 4 channels")
        self.assertIn("of 2 choices are other", told)

    def test_rows_of_algorithms_without_a_model_are_passed_over(self):
        table = self.folder / "table.csv"
        table.write_text("allreduce,0,4194304,collnet_chain,simple,-1,-1,-1\nallgather,0,4096,pat,simple,-1,-1,-1\n"
                         "allreduce,0,4194304,tree,ll,2,-1,-1\n")
        told = self.done("describe", "hgx_h100", "--env", f"NCCL_TUNER_CONFIG_FILE={table}")
        self.assertIn("AllReduce: 1048576 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}", told)
        self.assertIn("AllGather: 4096 Bytes -> Algo RING proto LL ", told)
        passed = "table.csv: 2 rows are passed over, since nothing simulates the algorithm: line 1 (collnet_chain), line 2 (pat)"
        self.assertIn(passed, told)
        # A run says it too, once for all scenarios.
        scenarios = [{"name": name, "nccl_environment": {"NCCL_TUNER_CONFIG_FILE": "table.csv"}} for name in ("a", "b")]
        notes = json.loads(self.done("run", self.experiment(scenarios), "--json"))["workload"]["notes"]
        self.assertEqual([note for note in notes if "passed over" in note], [f"{self.folder}/{passed}"])
        table.write_text("allreduce,0,4194304,tree,ll,2,-1,-1\n")
        self.assertNotIn("passed over", self.done("describe", "hgx_h100", "--env", f"NCCL_TUNER_CONFIG_FILE={table}"))

    def picture(self, system, *more):
        path = self.folder / "machine.svg"
        self.done("describe", system, "--picture", path, *more)
        root = xml.etree.ElementTree.fromstring(path.read_text())
        space = "{http://www.w3.org/2000/svg}"
        width, height = float(root.get("width")), float(root.get("height"))
        boxes = [tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))
                 for box in root.iter(space + "rect") if "box" in box.get("class")]
        for x, y, w, h in boxes:
            self.assertTrue(0 <= x and x + w <= width and 0 <= y and y + h <= height)
        for i, (x, y, w, h) in enumerate(boxes):
            for a, b, c, _ in boxes[i + 1:]:
                self.assertFalse(y == b and x < a + c and a < x + w, "boxes overlap")
        texts = [text.text for text in root.iter(space + "text")]
        return len(boxes), len(list(root.iter(space + "line"))) + len(list(root.iter(space + "path"))), texts

    def test_a_picture_shows_nodes_links_and_their_rates(self):
        boxes, lines, texts = self.picture("hgx_h100")
        self.assertEqual((boxes, lines), (8 + 4, 32 + 2))  # and two of the legend
        self.assertIn("16 x GPU - switch: 5 lanes of 26.5625 GB/s, usable 115.7 GB/s each way, 200 ns", texts)
        boxes, lines, texts = self.picture("dgx1_v100")
        self.assertEqual((boxes, lines), (8 + 1, 16 + 8 + 3))
        boxes, lines, texts = self.picture("dgx_h100_ndr", "--set", "/topology/nodes=64")
        self.assertIn("62 more", texts)
        self.assertIn("machine 1", texts)
        self.assertEqual(boxes, 2 * 28 + 32)
        self.picture("gb200_nvl72")

    def test_what_has_no_picture_is_told(self):
        wrong = switchfold("describe", "hgx_h100", "--picture", self.folder / "machine.png")
        self.assertEqual((wrong.returncode, "does not end in .svg; expected the name of an SVG file" in wrong.stderr), (2, True))
        wrong = switchfold("describe", "xeon_phi_5110p", "--picture", self.folder / "machine.svg")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("has no links between GPUs to draw", wrong.stderr)
        wrong = switchfold("describe", "hgx_h1000", "--picture", self.folder / "machine.svg")
        self.assertEqual(wrong.returncode, 2)

    def test_a_topology_becomes_a_system(self):
        path = self.folder / "mine.json"
        self.done("new", "system", "--nccl-topology", CORPUS / "nccl_topology/four.xml", "-o", path, "--name", "two")
        text = path.read_text()
        self.assertIn("// 2 of NVIDIA H100 SXM5 80 GB, by NCCL's topology", text)
        self.assertIn('"lanes_to_switch": [4,5]', text)
        self.assertIn("1 of 400 Gb/s", text)
        self.assertIn("two", self.done("describe", path))
        path.unlink()
        self.done("new", "system", "--nvidia-smi", CORPUS / "nvidia_smi/two.txt", "--gpu", "NVIDIA H100 80GB HBM3", "-o", path)
        self.assertIn('"gpus": 2', path.read_text())
        self.done("describe", path)

    def test_topologies_of_several_machines_become_a_cluster(self):
        one = (CORPUS / "nccl_topology/four.xml").read_text()
        for number, text in enumerate((one, one.replace("0x1\"", "0x2\""), one.replace('speed="400000"', 'speed="200000"'))):
            (self.folder / f"{number}.xml").write_text(text)
        path = self.folder / "mine.json"
        files = [self.folder / f"{number}.xml" for number in (0, 1)]
        self.done("new", "system", "--nccl-topology", *files, "-o", path, "--name", "four")
        cluster = json.loads("".join(path.read_text().splitlines(keepends=True)[1:]))
        self.assertEqual(cluster["topology"]["nodes"], 2)
        self.assertEqual(cluster["topology"]["nics"]["count"], 1)
        told = self.done("describe", path)
        self.assertIn("four: 4 x NVIDIA H100 SXM5 80 GB", told)
        self.assertIn("2 nodes: 4 x GPU", told)
        self.assertIn("2 x NIC to network switch: 1 lane of 50 GB/s", told)
        slow = self.folder / "slow.json"
        self.done("new", "system", "--nccl-topology", self.folder / "2.xml", self.folder / "2.xml", "-o", slow)
        self.assertIn("1 lane of 25 GB/s", self.done("describe", slow))
        # Machines that differ are told apart.
        wrong = switchfold("new", "system", "--nccl-topology", self.folder / "0.xml", self.folder / "2.xml", "-o", self.folder / "x")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("2.xml: /: has the network interfaces 1 of 200 Gb/s, and the first 1 of 400 Gb/s", wrong.stderr)
        self.assertIn("expected equal machines", wrong.stderr)
        wrong = switchfold("new", "system", "--nccl-topology", *files)
        self.assertIn("--out: /: is missing; expected the name of the cluster's file", wrong.stderr)
        both = self.folder / "both.xml"
        both.write_text(one.replace("0x1\"", "0x2\"", 1))
        self.assertIn("describes 2 machines; expected one machine a file: each dumps its own", switchfold("new", "system", "--nccl-topology", both).stderr)

    def test_hostile_xml_is_refused(self):
        path = self.folder / "hostile.xml"
        scenario = [{"name": "x", "all_reduce": {"algorithm": {"program": "hostile.xml"}}}]
        laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
        for text in (f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "ha">{laughs}]><system>&l9;</system>',
                     '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><system>&x;</system>',
                     "<system>&undeclared;</system>",
                     "<a>" * 100_000 + "</a>" * 100_000,
                     "<system " + "x" * 100_000):
            path.write_text(text)
            wrong = switchfold("new", "system", "--nccl-topology", path)
            self.assertEqual(wrong.returncode, 2, wrong.stderr[:200])
            self.assertRegex(wrong.stderr, r"hostile\.xml: .*expected")
            self.assertRegex(self.refused(scenario), r"hostile\.xml: .*expected")

    def test_unequal_gpus_of_a_topology_are_named_by_rank(self):
        one = (CORPUS / "nccl_topology/four.xml").read_text()
        mixed = self.folder / "mixed.xml"
        # The second is an H200.
        mixed.write_text("0x2335".join(one.rsplit("0x2330", 1)))
        path = self.folder / "mine.json"
        self.done("new", "system", "--nccl-topology", mixed, "-o", path)
        self.assertIn('"gpus": [{"ranks":[1],"gpu":', path.read_text())
        self.assertRegex(self.done("describe", path), "H100.*H200|H200.*H100")

    def described(self, matrix, gpu):
        """The topology that a matrix becomes, and the file's text."""
        names = [f"GPU{i}" for i in range(len(matrix))]
        rows = ["\t" + "\t".join(names)]
        rows += ["\t".join([name, *(" X " if word == "X" else word for word in row)]) for name, row in zip(names, matrix)]
        (self.folder / "topo.txt").write_text("\n".join(rows) + "\n")
        out = self.folder / "described.json"
        out.unlink(missing_ok=True)
        self.done("new", "system", "--nvidia-smi", self.folder / "topo.txt", "--gpu", gpu, "-o", out)
        text = out.read_text()
        self.done("describe", out)
        return json.loads("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")))["topology"], text

    def test_a_matrix_tells_meshes_boards_sockets_and_pcie_switches(self):
        def equal(n, word):
            return [["X" if a == b else word for b in range(n)] for a in range(n)]
        mesh, text = self.described(equal(4, "NV4"), "NVIDIA A100-SXM4-40GB")
        self.assertEqual(mesh["lanes"], 4)
        self.assertIn("a100_40gb.json", text)  # that with 80 GB is shipped
        self.assertEqual(self.described(equal(4, "NV6"), "NVIDIA H100 80GB HBM3")[0]["lanes"], 6)
        self.assertIn("dgx2_v100", self.described(equal(16, "NV6"), "Tesla V100-SXM3-32GB")[1])
        self.assertEqual(self.described(equal(2, "PIX"), "NVIDIA L40S")[0]["roots"], 1)
        self.assertEqual(self.described(equal(2, "PHB"), "NVIDIA H100 NVL")[0]["bridges"], [])
        two = [["X", "NODE", "SYS", "SYS"], ["NODE", "X", "SYS", "SYS"], ["SYS", "SYS", "X", "NODE"], ["SYS", "SYS", "NODE", "X"]]
        self.assertEqual(self.described(two, "NVIDIA L40S")[0]["roots"], 2)
        self.assertIn("GPUs are on 2 processors; rtx3090_pcie_no_p2p has one", self.described(two, "NVIDIA GeForce RTX 3090")[1])
        pairs = [[word.replace("NODE", "PIX") for word in row] for row in two]
        self.assertIn("GPUs share 2 PCIe switches; l40s_pcie has none", self.described(pairs, "NVIDIA L40S")[1])
        self.assertEqual(self.described(pairs, "Tesla P40")[0]["switches"], 2)

    def test_links_that_differ_between_gpus_are_the_shipped_systems(self):
        def topology(gpus, links, device="0x2330"):
            rows = ["<pci busid='0000:%02x:00.0' class='0x030200' device='%s'><gpu dev='%d'>%s</gpu></pci>" % (
                g + 16, device, g, "".join(f"<{kind} target='0000:{to:02x}:00.0' count='{count}' tclass='{tclass}'/>"
                                           for kind, to, count, tclass in links(g))) for g in range(gpus)]
            (self.folder / "topo.xml").write_text(f"<system version='1'><cpu numaid='0'>{''.join(rows)}</cpu></system>")
            out = self.folder / "topo.json"
            out.unlink(missing_ok=True)
            return switchfold("new", "system", "--nccl-topology", self.folder / "topo.xml", "-o", out), out
        def turned(g, last=4):
            return [("nvlink", s, (5, 4, 4, 5 if last == 4 else last)[(s + g) % 4], "0x068000") for s in range(4)]
        made, out = topology(8, turned)
        self.assertEqual(made.stderr, "")
        self.assertIn("how a GPU's 18 links are shared among switches is hgx_h100's", out.read_text())
        wrong, _ = topology(8, lambda g: turned(g, 3 if g == 2 else 4))
        self.assertIn("has GPUs with 16, 18 links to switches, and those of hgx_h100 have 18", wrong.stderr)
        made, out = topology(8, lambda g: [("xgmi", p + 16, 1, "0x038000") for p in range(8) if p != g], "0x74a1")
        self.assertEqual(made.stderr, "")
        self.assertIn('"lanes": 1', out.read_text())

    def test_what_a_topology_lacks_is_asked_for(self):
        smi = CORPUS / "nvidia_smi/two.txt"
        for arguments, told in (
            (("--nvidia-smi", smi), "--gpu: /: is missing, and nvidia-smi topo -m does not name the GPUs"),
            (("--nvidia-smi", smi, "--gpu", "NVIDIA Z9"), "names NVIDIA Z9, which configs/systems/gpus does not have"),
            (("--nvidia-smi", smi, "--gpu", "NVIDIA L4"), "no shipped system is"),
            (("--gpu", "NVIDIA H100"), "expected new system with --nccl-topology or --nvidia-smi"),
        ):
            result = switchfold("new", "system", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(told, result.stderr)

    def test_astra_sims_inputs_become_an_experiment(self):
        graph = (SOURCE / "fuzz/readers/corpus/chakra/pytorch.et").read_bytes()
        for rank in range(4):
            (self.folder / f"work.{rank}.et").write_bytes(graph)
        (self.folder / "system.json").write_text(json.dumps({
            "scheduling-policy": "LIFO", "endpoint-delay": 10, "all-reduce-implementation": ["direct"],
            "all-gather-implementation": ["halvingDoubling"], "local-mem-bw": 1600, "peak-perf": 312, "roofline-enabled": 1}))
        for shape in ("Ring", "FullyConnected", "Switch"):
            (self.folder / "network.yml").write_text(
                f"# a network\ntopology: [ {shape} ]\nnpus_count: [ 4 ]  # of NPUs\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n")
            out = self.folder / f"{shape}.json"
            self.done("import", "astra-sim", "--system", self.folder / "system.json", "--network", self.folder / "network.yml",
                      "--workload", self.folder / "work", "-o", out)
            text = out.read_text()
            self.assertIn('// No counterpart: endpoint-delay 10', text)
            self.assertNotIn("roofline", text)
            self.assertIn('// No counterpart: all-gather-implementation halvingDoubling: runs as auto', text)
            self.assertIn('"peak": "1600 GB/s"', text)
            told = json.loads(self.done("run", out, "--json"))
            self.assertGreater(told["scenarios"][0]["iteration_us"], 0)

    def astra(self, shape, counts, out, ranks=8, kind=0, size=1 << 20, **system):
        """Imports a collective, an all-reduce of 1 MiB unless told, over the dimensions."""
        maker = runpy.run_path(str(SOURCE / "scripts/make_custom_collective"))
        for rank in range(ranks):
            graph = maker["Rank"]("allreduce", size, False)
            graph.node("collective", 7, [], [("comm_type", 9, kind), ("comm_size", 9, size)])
            (self.folder / f"work.{rank}.et").write_bytes(graph.out)
        (self.folder / "system.json").write_text(json.dumps(system))
        several = [", ".join([word] * (shape.count(",") + 1)) for word in ("50.0", "500.0")]
        (self.folder / "network.yml").write_text(
            f"topology: [ {shape} ]\nnpus_count: [ {counts} ]\nbandwidth: [ {several[0]} ]\nlatency: [ {several[1]} ]\n")
        return switchfold("import", "astra-sim", "--system", self.folder / "system.json", "--network",
                          self.folder / "network.yml", "--workload", self.folder / "work", "-o", self.folder / out)

    def test_compute_nodes_take_astra_sims_roofline(self):
        maker = runpy.run_path(str(SOURCE / "scripts/make_custom_collective"))
        for operations, size, needs in ((312 * 10**9, 1 << 20, 1000), (10**9, 1600 * 10**6, 1000), (624 * 10**9, 1600 * 10**6, 2000)):
            self.astra("Ring", "2", "roofline.json", ranks=2, **{"peak-perf": 312, "local-mem-bw": 1600, "roofline-enabled": 1})
            for rank in range(2):
                graph = maker["Rank"]("step", 1, False)
                graph.node("product", 4, [], [("num_ops", 9, operations), ("tensor_size", 9, size)])
                (self.folder / f"work.{rank}.et").write_bytes(graph.out)
            told = json.loads(self.done("run", self.folder / "roofline.json", "--json"))
            self.assertAlmostEqual(told["scenarios"][0]["iteration_us"] / needs, 1, delta=0.02)
            self.assertIn("kernels without a duration (2) take that of their operations or their bytes, whichever is longer, "
                          "at 312 TFLOP/s and 1.6 TB/s of", " ".join(told["workload"]["notes"]))

    def test_networks_of_several_dimensions_run_along_them(self):
        for number, (shape, counts) in enumerate((
                ("Ring, Switch", "4, 2"), ("FullyConnected, Ring", "2, 4"), ("Ring, FullyConnected, Switch", "2, 2, 2"))):
            words = ["ring"] * (shape.count(",") + 1)
            out = f"{number}.json"
            self.assertEqual(self.astra(shape, counts, out, **{"all-reduce-implementation": words}).stderr, "")
            told = json.loads(self.done("run", self.folder / out, "--json", "--set", "/functional=true"))
            collective = told["scenarios"][0]["collectives"][0]
            self.assertEqual(collective["algorithm"], "along the dimensions")
            # No faster than the bytes of the first dimension's reduce-scatter and all-gather on its link of 50 GB/s.
            first = int(counts.split(",")[0])
            links = first - 1 if shape.startswith("Full") else 2 if first > 2 else 1
            self.assertGreater(collective["time_us"], 2 * (1 << 20) * (first - 1) / first / (50e3 * links))
        # The links that there are: 8 of their own, then a ring of 4 twice, then 4 switches with 2 each.
        self.astra("Ring, Switch", "4, 2", "edges.json", **{"all-reduce-implementation": "ring"})
        text = (self.folder / "edges.json").read_text()
        self.assertEqual((text.count('"dimension_0"\n'), text.count('"dimension_1"\n')), (8, 8))

    def test_gathers_and_scatters_run_along_the_dimensions(self):
        for number, (shape, counts) in enumerate((
                ("Ring, Switch", "4, 2"), ("FullyConnected, Ring", "2, 4"), ("Ring, FullyConnected, Switch", "2, 2, 2"))):
            words = ["ring"] * (shape.count(",") + 1)
            # What a rank gives or gets of a whole of 1 MiB: of Chakra's all-gathers the size is a rank's.
            for kind, name, size in ((2, "all_gather", 1 << 17), (7, "reduce_scatter", 1 << 20)):
                out = f"{name}{number}.json"
                system = {f"{name.replace('_', '-')}-implementation": words}
                self.assertEqual(self.astra(shape, counts, out, kind=kind, size=size, **system).stderr, "")
                self.assertNotIn("No counterpart", (self.folder / out).read_text())
                told = json.loads(self.done("run", self.folder / out, "--json", "--set", "/functional=true"))
                collective = told["scenarios"][0]["collectives"][0]
                self.assertEqual((collective["algorithm"], collective["size_bytes"]), ("along the dimensions", 1 << 20))
                # The first dimension carries all but a rank's own part of the whole, by rings of both directions at most.
                first = int(counts.split(",")[0])
                links = first - 1 if shape.startswith("Full") else 2 if first > 2 else 1
                self.assertGreater(collective["time_us"], (1 << 20) * (first - 1) / first / (50e3 * links))
                # A copy that adds or hands on the wrong chunk is caught when it is loaded.
                program = self.folder / f"{name}{number}.{name}.json"
                program.write_text(program.read_text().replace("(xa - 1) % ", "(xa - 0) % ").replace(" + 0) % ", " + 1) % "))
                self.assertEqual(switchfold("run", self.folder / out).returncode, 2)

    def test_a_gather_and_a_scatter_take_as_long_as_an_all_reduce(self):
        times = {}
        for kind, name, size in ((0, "all_reduce", 1 << 26), (2, "all_gather", 1 << 23), (7, "reduce_scatter", 1 << 26)):
            self.astra("Ring, Switch", "4, 2", f"{name}.json", kind=kind, size=size,
                       **{f"{name.replace('_', '-')}-implementation": ["ring", "ring"]})
            told = json.loads(self.done("run", self.folder / f"{name}.json", "--json"))
            times[name] = told["scenarios"][0]["collectives"][0]["time_us"]
        self.assertAlmostEqual((times["all_gather"] + times["reduce_scatter"]) / times["all_reduce"], 1, delta=0.05)

    def test_all_to_alls_run_along_the_dimensions(self):
        size = 1 << 20
        for number, (shape, counts, words) in enumerate((
                ("Ring, Switch", "4, 2", ["ring", "ring"]), ("Ring, FullyConnected", "2, 4", ["ring", "direct"]),
                ("Ring, FullyConnected, Switch", "2, 2, 2", ["ring"] * 3), ("Ring", "8", ["ring"]))):
            out = self.folder / f"exchange{number}.json"
            made = self.astra(shape, counts, out.name, kind=6, size=size, **{"all-to-all-implementation": words})
            self.assertEqual(made.stderr, "")
            self.assertNotIn("No counterpart", out.read_text())
            told = json.loads(self.done("run", out, "--json", "--set", "/functional=true"))
            collective = told["scenarios"][0]["collectives"][0]
            self.assertEqual((collective["algorithm"], collective["size_bytes"]), ("along the dimensions", size))
            # What each dimension's links carry at 50 GB/s, of rings once for each neighbour that it passes.
            least = sum(size / npus * (npus * (npus - 1) / 2 if word == "ring" else 1) / 50e3
                        for npus, word in zip(map(int, counts.split(",")), words))
            self.assertGreater(collective["time_us"], least)
            # A copy that takes the wrong chunk, or puts it into the wrong place, is caught when it is loaded.
            program = out.with_suffix(".all_to_all.json")
            right = program.read_text()
            for which, wrong in (("+ k)", "+ k + 1)"), ("- k)", "- k + 1)"), ("+ 0)", "+ 1)")):
                program.write_text(right.replace(which, wrong))
                self.assertEqual(switchfold("run", out).returncode, 2, which)

    def test_an_all_to_all_without_a_program_is_told(self):
        self.astra("Switch", "8", "direct.json", kind=6, **{"all-to-all-implementation": ["direct"]})
        self.assertNotIn("all_to_all", (self.folder / "direct.json").read_text())
        several = {"all-to-all-implementation": ["ring", "ring"]}
        self.astra("Ring, Ring", "8, 64", "many.json", ranks=512, kind=6, **several)
        self.assertIn("all-to-all-implementation ring, ring: runs as auto; a program of 512 NPUs would have",
                      (self.folder / "many.json").read_text())

    def test_a_network_that_does_not_fit_is_told(self):
        for shape, counts, told in (
            ("Ring, Switch", "2, 2", "network.yml: /npus_count: multiplies to 4 NPUs, but the workload has 8 graphs; expected a graph for each NPU"),
            ("Ring, Switch", "8", "/npus_count: has 1 value, and topology has 2; expected one for each dimension"),
            ("Ring, Torus", "2, 4", "/topology: is Torus; expected Ring, FullyConnected or Switch"),
            ("Rings", "8", "/topology: is Rings, did you mean Ring?; expected Ring, FullyConnected or Switch"),
            ("Ring", "7.5", "/npus_count: is 7.5; expected a whole number of NPUs from 2 to 16384"),
        ):
            wrong = self.astra(shape, counts, "x.json")
            self.assertEqual(wrong.returncode, 2)
            self.assertIn(told, wrong.stderr)

    def test_a_custom_collective_of_astra_sim_is_taken(self):
        subprocess.run([SOURCE / "scripts/make_custom_collective", "direct_all_reduce", "8", self.folder / "mine"], check=True)
        self.assertEqual(self.astra("Switch", "8", "x.json", **{"all-reduce-implementation-custom": ["mine"]}).stderr, "")
        told = json.loads(self.done("run", self.folder / "x.json", "--json"))
        self.assertEqual(told["scenarios"][0]["collectives"][0]["algorithm"], "mine")
        wrong = self.astra("Switch", "8", "y.json", **{"all-reduce-implementation-custom": ["none"]})
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("/all-reduce-implementation-custom: names none.0.et", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
