#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that `switchfold new` writes run unchanged, and `switchfold doctor` reports what is installed.

usage: new_command_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
TRACE = SOURCE / "configs/examples/resnet50_ddp_synthetic.json.gz"
COLLECTIVE = {
    "name": "small",
    "system": str(SOURCE / "configs/systems/hgx_h100.json"),
    "workload": {"type": "collective", "size": "1 MiB", "ranks": 8},
}


def switchfold(*arguments):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=250, check=False)


class StartFiles(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def done(self, *arguments):
        result = switchfold(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def new(self, *arguments):
        path = self.folder / "new.json"
        path.unlink(missing_ok=True)
        self.done("new", *arguments, "-o", path)
        return path

    def test_experiments_run_as_they_are(self):
        for more in (
            ("--workload", "collective"),
            ("--workload", "collective", "--system", "v100_pcie", "--name", "mine"),
            ("--workload", "kernel_beside_collective"),
            ("--workload", "trace", "--trace", TRACE),
            ("--workload", "training", "--network", "vgg16"),
        ):
            path = self.new("experiment", *more)
            self.assertIn("//", path.read_text())
            changes = ["--set", "/workload/ranks=4"] if "v100_pcie" in more else []
            ran = self.done("run", path, "--json", "--set", "/causes=false", *changes)
            self.assertTrue(json.loads(ran)["scenarios"])

    def test_the_plan_of_a_training_fits_the_memory(self):
        for network, more, plan in (
            ("vgg16", (), {"data": 8, "micro_batch": 32}),
            ("llama3_8b", (), {"data": 8, "micro_batch": 1, "sharding": "parameters", "fold": True}),
            ("llama3_8b", ("--system", "v100_pcie"), None),
        ):
            path = self.new("experiment", "--network", network, *more)
            lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
            written = json.loads("\n".join(lines))["workload"]["plan"]
            ran = switchfold("run", path, "--set", "/causes=false", "--json")
            if plan is None:  # 4 GPUs of 16 GiB hold no state of 8 billion parameters
                self.assertIn("No common plan fits the GPUs' memory", path.read_text())
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn("/workload/plan", ran.stderr)
            else:
                self.assertEqual((written, ran.returncode), (plan, 0), ran.stderr)

    def test_a_network_that_is_none_is_refused_at_once(self):
        result = switchfold("new", "experiment", "--network", "llama9")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn('unknown network "llama9"', result.stderr)

    def test_a_trace_is_asked_for_its_ranks(self):
        trace = json.loads(gzip.decompress(pathlib.Path(TRACE).read_bytes()))
        trace["distributedInfo"] = {"backend": "nccl", "rank": 0, "world_size": 4}
        of_four = self.folder / "of_four.json"
        of_four.write_text(json.dumps(trace))
        path = self.new("experiment", "--trace", of_four)  # the workload takes its ranks from the trace
        self.assertIn('"ranks": 4}', path.read_text())
        self.assertIn("// The traces are of 4 ranks on ", path.read_text())
        self.assertIn("4 ranks", self.done("run", path, "--set", "/causes=false", "--out", self.folder / "four"))
        self.assertIn('"type": "training"', self.new("experiment", "--network", "vgg16").read_text())

    def test_options_of_another_workload_are_refused(self):
        for more, says in ((("--trace", TRACE, "--workload", "training"), "--trace: /: belongs to --workload trace"),
                           (("--network", "vgg16", "--workload", "collective"), "--network: /: belongs to --workload training"),
                           (("--trace", self.folder / "none.json"), "none.json")):
            result = switchfold("new", "experiment", *more)
            self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
            self.assertIn(says, result.stderr)

    def test_systems_are_described(self):
        path = self.new("system", "--system", "hgx_h200", "--name", "mine")
        self.assertIn("mine", self.done("describe", path))

    def test_sweeps_sweep(self):
        path = self.new("sweep")
        self.done("sweep", path, "--out", self.folder / "swept")
        of = self.folder / "of.json"
        of.write_text(json.dumps(COLLECTIVE))
        self.done("sweep", self.new("sweep", "--experiment", of), "--out", self.folder / "seeds")

    def test_nothing_is_overwritten_and_nothing_unknown_is_taken(self):
        path = self.new("experiment")
        before = path.read_text()
        again = switchfold("new", "experiment", "-o", path)
        self.assertEqual(again.returncode, 2)
        self.assertIn("exists already", again.stderr)
        self.assertEqual(path.read_text(), before)
        for wrong in (("machine",), ("experiment", "--system", "hgx_h1000")):
            self.assertEqual(switchfold("new", *wrong).returncode, 2)
        devices = switchfold("new", "experiment", "--system", "xeon_phi_5110p")
        self.assertEqual(devices.returncode, 2)
        self.assertIn("/devices: has no GPUs; expected a system with GPUs", devices.stderr)

    def test_doctor_says_what_is_there(self):
        told = self.done("doctor")
        for what in ("configurations", "GPU", "CUPTI", "NCCL", "Slurm", "cores"):
            self.assertIn(what, told)

    def test_doctor_says_how_well_systems_are_known(self):
        told = self.done("doctor")
        self.assertRegex(told, r"measured +\d+ rows on \d+ of \d+ systems")
        listed = self.done("doctor", "--systems").splitlines()
        self.assertTrue(any(line.startswith("  hgx_h100 ") and "collectives: " in line for line in listed))
        self.assertTrue(any(line.startswith("  k40_ethernet ") and "not measured" in line for line in listed))


if __name__ == "__main__":
    unittest.main()
