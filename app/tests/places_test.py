#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places of reduction units: in machines' switches, leaves, spines, NICs, PCIe switches and pools, with right sums in each.

usage: places_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
MODES = ["pull", "push", "command"]


def run(system, ranks, size="256 KiB", sets=(), policies=None, code=0):
    """Scenarios by name; the error's text for another code."""
    experiment = {
        "name": "places", "system": str(SOURCE / f"configs/systems/{system}.json"), "functional": True,
        "workload": {"type": "collective", "size": size, "ranks": ranks, "datatype": "float32"},
        "scenarios": [{"name": mode, "all_reduce": policies or {"algorithm": "in_switch", "mode": mode}} for mode in MODES]}
    with tempfile.TemporaryDirectory() as folder:
        words = [word for one in sets for word in ("--set", one)]
        done = subprocess.run([PROGRAM, "--quiet", "run", "-", "--out", f"{folder}/out", *words], input=json.dumps(experiment),
                              capture_output=True, text=True, timeout=250, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        if code != 0:
            return done.stderr
        return {s["name"]: s for s in json.loads(pathlib.Path(f"{folder}/out/result.json").read_text())["scenarios"]}


def added(scenario):
    """Bytes that each node's units added, by the node's name."""
    nodes = {}
    for unit in scenario["reduction_units"]:
        node = unit["name"].split("_to_")[1].rsplit("_e", 1)[0]
        nodes[node] = nodes.get(node, 0) + unit["bytes_in"]
    return {node: count for node, count in nodes.items() if count > 0}


def units(system, *words):
    done = subprocess.run([PROGRAM, "describe", SOURCE / f"configs/systems/{system}.json", "--units", *words],
                          capture_output=True, text=True, timeout=60, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


class Places(unittest.TestCase):
    def right_in_every_mode(self, system, ranks, sets=()):
        told = run(system, ranks, sets=sets)
        for mode in MODES:
            self.assertIsNone(told[mode]["collectives"][0]["fallback"], f"{system} {mode}")
        return {mode: added(scenario) for mode, scenario in told.items()}

    def test_a_pool_adds_what_the_fabric_only_forwards(self):
        for system in ("cxl_pool", "ualink_pool"):
            for nodes in self.right_in_every_mode(system, 8).values():
                self.assertTrue(nodes and all(name.startswith("pool") for name in nodes), nodes)

    def test_in_leaves_or_spines_or_both(self):
        where = "/system/topology/network/switch/reduction/place"
        # On one pod all meet in the leaf of their rail, on two in a spine.
        pods = ["/system/topology/nodes=4", "/system/topology/network/machines_per_leaf=2"]
        for place, has in (("leaf", {"leaf"}), ("spine", {"spine"})):
            sets = [f"{where}={place}"] + (pods if place == "spine" else [])
            for nodes in self.right_in_every_mode("dgx_h100_ndr_sharp", 32 if place == "spine" else 16, sets).values():
                self.assertEqual({"leaf" if "leaf" in node else "spine" for node in nodes if "switch" not in node}, has)
        both = self.right_in_every_mode("dgx_h100_ndr_sharp", 32, pods)["push"]
        self.assertTrue(any("leaf" in node for node in both) and any("spine" in node for node in both), both)

    def test_a_nic_adds_what_its_gpus_send(self):
        with_nics = self.right_in_every_mode("hgx_a100_nic_reducing", 16)["push"]
        self.assertTrue(any("nic" in node for node in with_nics), with_nics)
        def in_leaves(nodes):
            return sum(count for node, count in nodes.items() if "leaf" in node)
        without = self.right_in_every_mode("hgx_a100_nic_reducing", 16, ["/system/topology/nics/nic/reduction=null"])["push"]
        self.assertFalse(any("nic" in node for node in without), without)
        # What two GPUs send through one NIC leaves it as one sum.
        self.assertEqual(in_leaves(without), 2 * in_leaves(with_nics))

    def test_a_place_that_is_not_there_is_refused_with_those_that_are(self):
        def problem(system, pointer, place):
            return units(system, "--set", f"{pointer}/reduction/place={place}")
        self.assertIn("/topology: has a reduction unit whose place is spine, which none of its switches is; expected one of: "
                      "machine", problem("hgx_h100", "/topology/switch", "spine"))
        self.assertIn("whose place is core, which none of its switches is; expected one of: leaf, spine",
                      problem("dgx_h100_ndr_sharp", "/topology/network/switch", "core"))
        self.assertIn("expected one of: nic", problem("hgx_a100_nic_reducing", "/topology/nics/nic", "pcie"))
        self.assertIn("expected one of", problem("hgx_h100", "/topology/switch", "nowhere"))

    def test_units_stand_only_in_their_place(self):
        of_spines = units("dgx_h100_ndr_sharp", "--set", "/topology/network/switch/reduction/place=spine")["units"]
        self.assertEqual({kind["like"] for kind in of_spines}, {"node0_switch0", "node0_switch1", "spine0"})
        two = units("hgx_h100", "--set", "/topology/switch/reduction/units=2")
        self.assertAlmostEqual(two["all_mm2"]["at_least"], 2 * units("hgx_h100")["all_mm2"]["at_least"], places=9)

    def test_two_units_a_lane_are_as_fast_as_one_of_twice_the_size(self):
        at = "/system/topology/switch/reduction/"
        small = [at + "entries=4", at + "adder_rate=10 GB/s", at + "buffer=16 KiB"]
        twice = [at + "entries=8", at + "adder_rate=20 GB/s", at + "buffer=32 KiB"]
        def times(sets):
            return [run("hgx_h100", 8, sets=sets)[mode]["collectives"][0]["time_us"] for mode in MODES]
        self.assertEqual(times(small + [at + "units=2"]), times(twice))
        self.assertGreater(times(small)[0], times(twice)[0])

    def test_entries_say_what_they_wait_for(self):
        at = "/system/topology/switch/reduction/"
        told = run("hgx_h100", 8, sets=[at + "watch_entries=true"])
        plain = run("hgx_h100", 8)
        for mode in MODES:
            self.assertNotIn("reduction_entries", plain[mode])
            self.assertEqual(told[mode]["collectives"], plain[mode]["collectives"])
            entries = told[mode]["reduction_entries"]
            lines = sum(row["lines"] for row in entries)
            self.assertGreater(lines, 0)
            # Nothing is ready before the adders' latency of 50 ns; members answer over two links of 200 ns each way.
            self.assertGreaterEqual(sum(row["adders_us"] for row in entries) / lines, 0.05)
            if mode != "push":
                self.assertGreater(sum(row["members_us"] for row in entries) / lines, 0.4)

    def test_tenants(self):
        at = "/system/topology/switch/reduction/"
        quotas = [{"gpus": [0, 1, 2, 3], "entries": 200}, {"gpus": [4, 5, 6, 7], "entries": 100}]
        self.assertIn("/reduction/tenants: have quotas of 300 entries together, and the table has 256",
                      run("hgx_h100", 8, sets=[at + "tenants=" + json.dumps(quotas)], code=2))
        # All of the table is kept for others: who is nobody's runs as a ring.
        quotas[0]["entries"] = 156
        told = run("hgx_h100", 8, sets=[at + "tenants=" + json.dumps(quotas)])
        for mode in MODES:
            self.assertEqual(told[mode]["collectives"][0]["fallback"], "refused")
        told = run("hgx_h100", 4, sets=[at + "tenants=" + json.dumps(quotas)])
        for mode in MODES:
            self.assertIsNone(told[mode]["collectives"][0]["fallback"])


if __name__ == "__main__":
    unittest.main()
