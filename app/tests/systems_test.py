#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every system of configs/systems loads, is described and drawn, and runs a small all-reduce with the right sums.

usage: systems_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
ALL = sorted((SOURCE / "configs/systems").glob("*.json"))
DEVICES = [s for s in ALL if "devices" in json.loads(s.read_text())]  # many-core coprocessors and their hosts
SYSTEMS = [s for s in ALL if s not in DEVICES]


def switchfold(*arguments):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=250, check=False
    )


class Systems(unittest.TestCase):
    def done(self, *arguments):
        result = switchfold(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_there_are_systems(self):
        self.assertGreater(len(SYSTEMS), 15)

    def test_each_is_described(self):
        for system in SYSTEMS:
            with self.subTest(system.stem):
                text = self.done("describe", system)
                self.assertTrue(text.startswith(f"{system.stem}: "), text)
                for line in ("bisection: ", "diameter: ", "rings: ", "ring all-reduce: bus bandwidth at most"):
                    self.assertIn(line, text)

    def test_those_of_devices_are_described_and_drawn(self):
        self.assertTrue(DEVICES)
        for system in DEVICES:
            with self.subTest(system.stem):
                text = self.done("describe", system)
                self.assertTrue(text.startswith(f"{system.stem}: Xeon E5-2670, Xeon Phi "), text)
                for line in ("  host: Xeon E5-2670, a socket of the host", "  phi: Xeon Phi ", "link to the host: 6.7 GB/s each way"):
                    self.assertIn(line, text)
                self.assertIn('"host" -- "phi" [label="6.7 GB/s"]', self.done("describe", "--dot", system))

    def test_each_is_drawn(self):
        for system in SYSTEMS:
            with self.subTest(system.stem):
                text = self.done("describe", "--dot", system)
                self.assertTrue(text.startswith(f'graph "{system.stem}" {{'), text[:80])
                nodes = set(re.findall(r'^    "(\w+)" \[', text, re.M))
                self.assertIn("gpu0", nodes)
                for ends in re.findall(r'^  "(\w+)" -- "(\w+)"', text, re.M):
                    self.assertLessEqual(set(ends), nodes)
                self.assertEqual(text.count("{"), text.count("}"))

    def test_each_runs_an_all_reduce_and_the_sums_are_right(self):
        with tempfile.TemporaryDirectory() as folder:
            experiment = pathlib.Path(folder) / "experiment.json"
            for system in SYSTEMS:
                with self.subTest(system.stem):
                    experiment.write_text(
                        json.dumps(
                            {
                                "name": system.stem,
                                "system": str(system),
                                "workload": {"type": "collective", "size": "256 KiB", "datatype": "float16"},
                                "scenarios": [{"name": "auto"}],
                                "functional": True,
                            }
                        )
                    )
                    result = json.loads(self.done("run", "--json", experiment))
                    collective = result["scenarios"][0]["collectives"][0]
                    self.assertEqual(collective["size_bytes"], 1 << 18)
                    self.assertGreater(collective["time_us"], 5)
                    self.assertLess(collective["time_us"], 3000)  # Ethernet, sockets

    def default_scenarios(self, system, workload):
        """Their names, and the run's notes."""
        with tempfile.TemporaryDirectory() as folder:
            experiment = pathlib.Path(folder) / "experiment.json"
            experiment.write_text(json.dumps(
                {"name": "default", "system": str(SOURCE / f"configs/systems/{system}.json"), "workload": workload}))
            result = json.loads(self.done("run", "--json", experiment))
        return [s["name"] for s in result["scenarios"]], " ".join(result["workload"]["notes"])

    def test_default_scenarios_are_what_the_switches_can_do_for_the_group(self):
        collective = {"type": "collective", "size": "64 KiB"}
        for system, ranks, expected in (
            ("hgx_h100", 0, ["ring", "in_switch"]),
            ("hgx_h200_ndr", 0, ["ring", "in_switch_tree"]),
            ("hgx_h200_ndr", 8, ["ring", "in_switch"]),
            ("dgx_h100_ndr_sharp", 0, ["ring", "in_switch_tree", "collnet"]),
        ):
            with self.subTest(system, ranks=ranks):
                self.assertEqual(self.default_scenarios(system, {**collective, "ranks": ranks}), (expected, ""))
        sharded = {"type": "training", "strategy": "fully_sharded",
                   "transformer": {"blocks": 1, "hidden": 64, "sequence": 8}}
        for system, workload, expected in (
            ("dgx_a100_hdr", collective, ["ring"]),
            ("hgx_h200_ndr", sharded, ["serial", "ring"]),
            ("dgx_h100_ndr_sharp", sharded, ["serial", "ring"]),
        ):
            with self.subTest(system):
                names, notes = self.default_scenarios(system, workload)
                self.assertEqual(names, expected)
                self.assertIn(f"in_switch was left out: {system} cannot do it", notes)
        # Tensor-parallel groups lie inside machines; those of the data go on by rings.
        several = {"type": "training", "transformer": {"blocks": 1, "hidden": 1024, "sequence": 64},
                   "plan": {"tensor": 8, "data": 2, "sequence": True, "sharding": "gradients"}}
        self.assertEqual(self.default_scenarios("hgx_h200_ndr", several)[0], ["serial", "ring", "in_switch"])

    def test_the_number_of_nodes_can_be_set(self):
        text = self.done("describe", SOURCE / "configs/systems/dgx_h100_ndr.json", "--set", "/topology/nodes=4")
        self.assertIn("4 nodes: 32 x GPU", text)

    def test_a_cluster_of_thousands_is_one_number_and_described_soon(self):
        """GPUs and switches of the network as of published reference architectures, or of the formula of a fat tree."""
        for system, nodes, gpus, network in (
            # NVIDIA DGX SuperPOD, H100 and B200: leaves, spines and cores of 64, 512 and 2,048 machines.
            ("dgx_h100_ndr", 64, 512, 16 + 16),
            ("dgx_h100_ndr", 512, 4096, 128 + 128 + 64),
            ("dgx_h100_ndr", 2048, 16384, 512 + 512 + 256),
            ("dgx_h100_ndr", 4096, 32768, 1024 + 1024 + 512),
            ("hgx_b200_ndr", 512, 4096, 128 + 128 + 64),
            ("mi300x_roce", 64, 512, 16 + 16),
            ("mi300x_roce", 512, 4096, 128 + 128 + 64),
            # 32 GPUs a leaf, 32 spines a pod of 1,024 and 1,024 cores.
            ("h100_roce_clos", 512, 4096, 128 + 4 * 32 + 1024),
            ("gb200_nvl72_ndr", 64, 4608, 144 + 5 * 32 + 1024),
        ):
            with self.subTest(system, nodes=nodes):
                text = self.done("describe", SOURCE / f"configs/systems/{system}.json", "--set", f"/topology/nodes={nodes}")
                self.assertIn(f"  {nodes} nodes: {gpus} x GPU, ", text)
                self.assertIn(f", {network} x network switch\n", text)
                self.assertIn(" 4 GiB  ", text)

    def test_a_ring_and_a_folded_step_run_on_a_thousand_gpus_of_each_family(self):
        step = {"type": "training", "network": {"type": "gpt", "layers": 8, "hidden": 4096, "heads": 32, "sequence": 2048},
                "plan": {"tensor": 8, "sequence": True, "pipeline": 4, "micro_batch": 1, "accumulate": 4, "sharding": "optimizer",
                         "fold": True}}
        for system, nodes, gpus in (("dgx_h100_ndr", 128, 1024), ("h100_roce_clos", 128, 1024), ("hgx_b200_ndr", 128, 1024),
                                    ("mi300x_roce", 128, 1024), ("gb200_nvl72_ndr", 16, 1152)):
            for workload in ({"type": "collective", "size": "1 MiB"},
                             {**step, "plan": {**step["plan"], "data": gpus // 32}}):
                with self.subTest(system, workload=workload["type"]), tempfile.TemporaryDirectory() as folder:
                    experiment = pathlib.Path(folder) / "experiment.json"
                    experiment.write_text(json.dumps({
                        "name": "large", "causes": False, "workload": workload,
                        "system": {"$base": str(SOURCE / f"configs/systems/{system}.json"), "topology": {"nodes": nodes},
                                   "collectives": {"transfer_unit": "64 KiB"}},
                        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]}))
                    result = json.loads(self.done("run", "--json", experiment))
                    self.assertEqual(result["workload"]["ranks"], gpus)
                    self.assertGreater(result["scenarios"][0]["iteration_us"], 100)

    def test_a_cluster_that_its_switches_do_not_join_names_what_mends_it(self):
        for system, sets, what in (
            ("dgx_h100_ndr", ["nodes=4097"], "network/switch/ports: is 64, but 65 lanes are joined to core0; expected as many ports, "
             "or at most 4096 machines"),
            ("dgx_h100_ndr", ["nodes=64", "network/switch/ports=40"],
             "or fewer machines_per_leaf, spines or lanes_to_spine"),
            ("dgx_h100_ndr", ["nics/count=4"], "expected at least one for each switch, as with pcie_switches 4"),
            ("gb200_nvl72_ndr", ["nodes=80", "network/levels=2"], "expected room for the 5760 there are, by more ports or levels 3"),
            ("gb200_nvl72_ndr", ["network/switch/ports=32"], "or ports of the network no larger"),
            ("gb200_nvl72_ndr", ["nodes=911"], "/topology/nodes: is 911, of 72 GPUs each; expected at most 65536 GPUs in all"),
        ):
            with self.subTest(system, sets=sets):
                arguments = [a for value in sets for a in ("--set", f"/topology/{value}")]
                result = switchfold("describe", SOURCE / f"configs/systems/{system}.json", *arguments)
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertIn(what, result.stderr)

    def test_a_group_larger_than_the_machine_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            experiment = pathlib.Path(folder) / "experiment.json"
            experiment.write_text(
                json.dumps(
                    {
                        "name": "large",
                        "system": str(SOURCE / "configs/systems/dgx_a100_hdr.json"),
                        "workload": {"type": "collective", "size": "1 MiB", "ranks": 17},
                    }
                )
            )
            result = switchfold("run", experiment)
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertIn("experiment.json: /workload/ranks: ", result.stderr)
            self.assertIn("16", result.stderr)

    def test_more_numbers_than_memory_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            experiment = pathlib.Path(folder) / "experiment.json"
            experiment.write_text(json.dumps({
                "name": "numbers", "system": str(SOURCE / "configs/systems/dgx_h100_ndr_64_nodes.json"), "functional": True,
                "workload": {"type": "collective", "size": "32 GiB", "datatype": "uint8"}, "scenarios": [{"name": "auto"}]}))
            result = switchfold("run", experiment)
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertIn("experiment.json: /functional: keeps the numbers of all ranks, ", result.stderr)
            self.assertIn("expected smaller collectives or fewer ranks, or false", result.stderr)

    def test_five_gpus_of_a_cube_mesh_go_round_through_one_of_them(self):
        with tempfile.TemporaryDirectory() as folder:
            experiment = pathlib.Path(folder) / "experiment.json"
            bandwidth = {}
            for ranks in (4, 5, 6):
                experiment.write_text(
                    json.dumps(
                        {
                            "name": "few",
                            "system": str(SOURCE / "configs/systems/dgx1_v100.json"),
                            "workload": {"type": "collective", "size": "32 MiB", "ranks": ranks},
                            "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}],
                            "functional": True,
                        }
                    )
                )
                result = json.loads(self.done("run", "--json", experiment))
                bandwidth[ranks] = result["scenarios"][0]["collectives"][0]["bus_bandwidth_GBps"]
            # Four rings of 25 GB/s on four GPUs, two rings on five or six.
            self.assertLess(bandwidth[5], 0.6 * bandwidth[4])
            self.assertGreater(bandwidth[5], 25)
            self.assertLess(bandwidth[5], 50)

    def test_collnet_where_no_network_reduces_is_refused_with_file_and_pointer(self):
        for name, why in (("hgx_h100", "are in one machine"), ("dgx_h100_ndr", "in the network")):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                experiment = pathlib.Path(folder) / "experiment.json"
                experiment.write_text(
                    json.dumps(
                        {
                            "name": "collnet",
                            "system": str(SOURCE / f"configs/systems/{name}.json"),
                            "workload": {"type": "collective", "size": "1 MiB"},
                            "scenarios": [{"name": "collnet", "all_reduce": {"algorithm": "collnet"}}],
                        }
                    )
                )
                result = switchfold("run", experiment)
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn("experiment.json: /scenarios/0/all_reduce/algorithm: ", result.stderr)
                self.assertIn(why, result.stderr)

    def test_a_network_that_reduces_is_described_and_chosen(self):
        text = self.done("describe", SOURCE / "configs/systems/dgx_h100_ndr_sharp.json", "--set", "/topology/nodes=8")
        self.assertRegex(text, r"1 GiB +collnet ")
        plain = self.done("describe", SOURCE / "configs/systems/dgx_h100_ndr.json", "--set", "/topology/nodes=8")
        self.assertNotIn("collnet", plain)

    def test_what_a_network_does_about_congestion_is_described(self):
        congestion = {"routing": "adaptive", "pause": {"from": "128 KiB", "until": "64 KiB"},
                      "dcqcn": {"mark_from": "160 kB", "mark_all_from": "640 kB"}, "loss": {"share": 1e-5}}
        system = SOURCE / "configs/systems/dgx_h100_ndr.json"
        text = self.done("describe", system, "--set", f"/topology/congestion={json.dumps(congestion)}")
        self.assertIn(
            "  congestion: adaptive routes; pauses from 128 KiB a lane; DCQCN with marks from 160 kB to 640 kB; "
            "1e-05 of packets lost, selective\n",
            text,
        )
        self.assertNotIn("congestion", self.done("describe", system))

    def test_a_wrong_topology_is_refused_with_file_and_pointer(self):
        with tempfile.TemporaryDirectory() as folder:
            system = pathlib.Path(folder) / "system.json"
            system.write_text(
                json.dumps(
                    {
                        "name": "torn",
                        "gpu": str(SOURCE / "configs/systems/gpus/h100.json"),
                        "topology": {
                            "type": "graph",
                            "nodes": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}],
                            "edges": [],
                            "links": {},
                        },
                    }
                )
            )
            result = switchfold("describe", system)
            self.assertEqual(result.returncode, 2)
            self.assertIn("system.json: /topology/nodes/1: GPU b has no path to a", result.stderr)


if __name__ == "__main__":
    unittest.main()
