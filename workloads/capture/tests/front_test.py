#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs switchfold-capture on commands that need no GPU.

usage: front_test.py SWITCHFOLD-CAPTURE
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
LIBRARY = PROGRAM.parent / "libswitchfold-capture.so"
HAS_CUPTI = (PROGRAM.parent / "libswitchfold-capture-cupti.so").exists()
# Removes settings of other profilers, so that the machine's environment does not affect the tests.
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.endswith("_INJECTION64_PATH") and name not in ("NCCL_PROFILER_PLUGIN", "RANK")
}
# Loads the injection library as CUDA does on a program's first call.
INJECT = (
    "import ctypes, os\n"
    "library = ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH'])\n"
    "assert library.InitializeInjection() == 1\n"
    "print('the program runs on')\n"
)


class Front(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "captures"

    def run_front(self, *arguments, nccl_only=True, **environment):
        mode = ["--nccl-only"] if nccl_only else []
        return subprocess.run(
            [PROGRAM, "--out", self.out, *mode, *arguments],
            capture_output=True,
            text=True,
            timeout=100,
            env=CLEAN | environment,
            check=False,
        )

    def test_the_command_finds_the_libraries_in_its_environment(self):
        done = self.run_front("--", "env")
        seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        self.assertEqual(seen["NCCL_PROFILER_PLUGIN"], str(LIBRARY))
        self.assertEqual(seen["SWITCHFOLD_CAPTURE_DIR"], str(self.out))
        self.assertNotIn("CUDA_INJECTION64_PATH", seen)

    @unittest.skipUnless(HAS_CUPTI, "built without CUPTI")
    def test_cuda_and_nvtx_too_where_cupti_was_built(self):
        done = self.run_front("--", "env", nccl_only=False)
        self.assertIn(f"CUDA_INJECTION64_PATH={LIBRARY}", done.stdout)
        self.assertIn(f"NVTX_INJECTION64_PATH={LIBRARY}", done.stdout)

    def test_a_command_that_was_not_captured_is_no_success(self):
        done = self.run_front("--", "true")
        self.assertEqual(done.returncode, 3)
        self.assertIn("captured no call of NCCL", done.stderr)

    def test_the_commands_own_code_comes_through(self):
        self.assertEqual(self.run_front("--", "sh", "-c", "exit 7").returncode, 7)

    def test_a_command_that_a_signal_ends(self):
        self.assertEqual(self.run_front("--", "sh", "-c", "kill -9 $$").returncode, 137)

    def test_options_of_the_command_are_the_commands(self):
        self.assertIn("--out x", self.run_front("--", "echo", "--out", "x").stdout)

    def test_a_command_that_is_not_there(self):
        done = self.run_front("--", "no-such-program")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-program", done.stderr)

    def test_another_profiler(self):
        done = self.run_front("--", "true", NCCL_PROFILER_PLUGIN="/opt/other.so")
        self.assertEqual(done.returncode, 2)
        self.assertIn("NCCL_PROFILER_PLUGIN: is /opt/other.so already", done.stderr)

    def test_old_captures_are_kept(self):
        self.out.mkdir()
        (self.out / "rank0.sfcapture").write_text("x")
        done = self.run_front("--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds rank0.sfcapture already", done.stderr)

    def test_no_command(self):
        self.assertEqual(self.run_front().returncode, 2)
        self.assertEqual(self.run_front("--counters", "--", "true").returncode, 2)

    def test_signals_go_on_to_the_command(self):
        with subprocess.Popen(
            [PROGRAM, "--out", self.out, "--nccl-only", "--", "sh", "-c", "echo up; exec sleep 600"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=CLEAN,
        ) as process:
            process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=100), 128 + signal.SIGTERM)

    @unittest.skipUnless(HAS_CUPTI, "built without CUPTI")
    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "there is a GPU")
    def test_without_a_gpu_the_program_runs_on(self):
        done = self.run_front("--", sys.executable, "-c", INJECT, nccl_only=False, RANK="2")
        self.assertIn("the program runs on", done.stdout)
        self.assertIn("kernels are not captured", done.stderr)
        self.assertIn("captured no kernel:", done.stderr)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("rank2.sfcapture: rank 2 of 3, 0 kernels", done.stderr)

    @unittest.skipUnless(HAS_CUPTI, "built without CUPTI")
    def test_without_the_front_the_library_does_nothing(self):
        done = subprocess.run(
            [sys.executable, "-c", INJECT],
            capture_output=True,
            text=True,
            env=CLEAN | {"CUDA_INJECTION64_PATH": str(LIBRARY)},
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
