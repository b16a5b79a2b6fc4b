#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`switchfold energy`: the table and the JSON of a run, power numbers of one's own, and what it refuses.

usage: energy_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
POWER = SOURCE / "configs/power/default.json"


def switchfold(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250, check=False,
                          cwd=SOURCE)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


class Energy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.out = cls.folder / "example"
        switchfold("run", "configs/experiments/example.json", "--set", "/causes=false", "--out", cls.out)

    def energy(self, *words):
        return json.loads(switchfold("energy", self.out, "--json", *words))

    def with_power(self, **changes):
        power = json.loads(POWER.read_text(encoding="utf-8"))
        power.update(changes)
        path = self.folder / "power.json"
        path.write_text(json.dumps(power), encoding="utf-8")
        return path

    def test_parts_add_up_and_the_shorter_step_takes_less(self):
        told = self.energy()
        self.assertEqual(told["schema"], "switchfold-energy-1")
        by_name = {s["name"]: s for s in told["scenarios"]}
        self.assertEqual(list(by_name), ["serial", "ring", "in_switch"])
        for scenario in told["scenarios"]:
            for end in ("value", "low", "high"):
                parts = sum(part[end] for part in scenario["parts_joules"].values())
                self.assertAlmostEqual(parts, scenario["step_joules"][end], places=9)
            self.assertLess(scenario["gpu_watts"]["high"], 700)
            self.assertGreater(scenario["gpu_watts"]["low"], 69)
            self.assertEqual(scenario["gpus"], 8)
        # The same kernels, with less waiting; a switch that adds halves the bytes that GPUs send.
        self.assertLess(by_name["in_switch"]["step_joules"]["value"], by_name["ring"]["step_joules"]["value"])
        self.assertAlmostEqual(by_name["in_switch"]["parts_joules"]["kernels"]["value"],
                               by_name["ring"]["parts_joules"]["kernels"]["value"], places=9)
        self.assertLess(by_name["in_switch"]["parts_joules"]["gpu_links"]["value"],
                        0.75 * by_name["ring"]["parts_joules"]["gpu_links"]["value"])

    def test_idle_is_power_times_time_times_gpus(self):
        told = self.energy()["scenarios"][0]
        idle = json.loads(POWER.read_text(encoding="utf-8"))["gpus"]["NVIDIA H100 SXM5 80 GB"]["idle_watts"]
        for end in ("value", "low", "high"):
            self.assertAlmostEqual(told["parts_joules"]["idle"][end], idle[end] * told["step_us"] * 1e-6 * 8, places=9)

    def test_the_table_says_what_it_is(self):
        table = switchfold("energy", self.out)
        self.assertIn(f"power numbers: {POWER}", table)
        self.assertIn("not measured", table)
        rows = [line.split("  ")[0] for line in table.splitlines()]
        self.assertEqual(rows.index("in_switch") - rows.index("serial"), 2)
        self.assertNotIn("PCIe", table)  # parts that no scenario has are left out
        self.assertEqual(table, switchfold("energy", self.out))

    def test_units_have_an_area_and_take_energy_only_where_they_add(self):
        by_name = {s["name"]: s for s in self.energy()["scenarios"]}
        units = json.loads(switchfold("describe", "configs/systems/hgx_h100.json", "--units"))
        for scenario in by_name.values():
            for end, of_units in (("low", "at_least"), ("high", "at_most")):
                self.assertAlmostEqual(scenario["reduction_units_mm2"][end], units["all_mm2"][of_units], places=9)
        self.assertEqual(by_name["ring"]["reduction_units_joules"]["high"], 0)
        added = by_name["in_switch"]["reduction_units_joules"]
        self.assertGreater(added["low"], 0)
        self.assertGreater(added["high"], 2 * added["low"])
        table = switchfold("energy", self.out)
        self.assertIn("Reduction units, at 7 nm", table)
        self.assertNotIn("ring:", table)

    def test_units_of_a_system(self):
        def of(system, *words):
            return json.loads(switchfold("describe", f"configs/systems/{system}.json", "--units", *words))
        h100 = of("hgx_h100")
        self.assertEqual([(kind["switches"], kind["lanes"], kind["tables"]) for kind in h100["units"]],
                         [(2, 40, 1), (2, 32, 1)])
        for end in ("at_least", "at_most"):
            lane = h100["units"][0]["lane_mm2"][end]
            self.assertAlmostEqual(h100["all_mm2"][end], 8 * 18 * lane, places=9)
            self.assertGreater(of("hgx_h100", "--node", "16")["all_mm2"][end], h100["all_mm2"][end])
            fewer = of("hgx_h100", "--set", "/topology/switch/reduction/buffer=2 KiB")
            self.assertLess(fewer["all_mm2"][end], 0.5 * h100["all_mm2"][end])
        # Leaves and spines are both below and above another unit.
        self.assertEqual([kind["tables"] for kind in of("dgx_h100_ndr_sharp")["units"]], [1, 1, 2, 2])
        self.assertEqual(of("dgx1_v100")["units"], [])
        self.assertNotIn("reduction units", switchfold("describe", "configs/systems/dgx1_v100.json"))
        self.assertIn("0.041 to 0.20 mm2 a lane", switchfold("describe", "configs/systems/hgx_h100.json"))
        self.assertIn("--node: 5 not in {16,14,10,7}",
                      switchfold("describe", "configs/systems/hgx_h100.json", "--node", "5", code=2))

    def test_numbers_of_ones_own(self):
        path = self.with_power(gpu_link_pj_per_bit={"value": 60, "low": 13, "high": 150})
        mine = self.energy("--power", path)
        for ours, shipped in zip(mine["scenarios"], self.energy()["scenarios"]):
            self.assertAlmostEqual(ours["parts_joules"]["gpu_links"]["value"],
                                   10 * shipped["parts_joules"]["gpu_links"]["value"], places=9)

    def test_refusals(self):
        power = json.loads(POWER.read_text(encoding="utf-8"))["gpus"]
        del power["NVIDIA H100 SXM5 80 GB"]
        path = self.with_power(gpus=power)
        self.assertIn(f'{path}: /gpus: has no power numbers of the GPU "NVIDIA H100 SXM5 80 GB"',
                      switchfold("energy", self.out, "--power", path, code=2))
        path = self.with_power(pcie_pj_per_bit={"value": 1, "low": 2, "high": 3})
        self.assertIn(f"{path}: /pcie_pj_per_bit: is not in its interval",
                      switchfold("energy", self.out, "--power", path, code=2))
        self.assertIn("holds no result.json", switchfold("energy", self.folder, code=2))
        self.assertIn("none.json", switchfold("energy", self.out, "--power", self.folder / "none.json", code=2))
        processor = self.folder / "phi"
        switchfold("run", "configs/experiments/autoencoder_on_phi.json", "--out", processor)
        self.assertIn("has no system of GPUs", switchfold("energy", processor, code=2))
        shared = self.folder / "shared"
        switchfold("run", "configs/experiments/shared_machine.json", "--set", "/causes=false", "--out", shared)
        self.assertIn("/workloads: has several workloads", switchfold("energy", shared, code=2))


if __name__ == "__main__":
    unittest.main()
