# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import contextlib
import ctypes
import importlib.util
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

from common import collective, rows

import switchfold

SIZES = {"name": "sizes", "experiment": collective(scenarios=[{"name": "x", "all_reduce": {"algorithm": "ring"}}]), "axes": [
    {"name": "algorithm", "pointer": "/scenarios/0/all_reduce/algorithm", "values": ["ring", "in_switch"]},
    {"name": "size", "pointer": "/workload/size", "range": "64 KiB..4 MiB x8"},
]}


COMPARED = "SELECT * FROM scenarios ORDER BY digest, position"


def _second_dies(run):
    calls = []

    def one(share):
        calls.append(share)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run(share)

    return one


def _dies(_share):
    os.kill(os.getpid(), signal.SIGKILL)


# A process that ends within a transaction, part of which is in the file: its journal must be rolled back by who reads next.
ENDS_WITHIN_A_TRANSACTION = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN")
database.execute("DELETE FROM scenarios")
database.execute("DELETE FROM runs")
database.execute("CREATE TABLE more AS SELECT zeroblob(100000) AS bytes")
os._exit(0)
"""


@contextlib.contextmanager
def _dask_of_two_processes():
    import dask
    import distributed

    warnings.simplefilter("ignore", DeprecationWarning)  # of Debian's tornado
    # A task is given up with its first worker, not with the fourth.
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                yield client


def _sweep_on_mpi(folder, how, ends_well=True):
    # Root may, and three processes on two cores: both are refused by default.
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "SWEEP_FOLDER": folder, "SWEEP_HOW": how}
    ended = subprocess.run(
        ["mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures", pathlib.Path(__file__).with_name("sweep_on_mpi.py")],
        env=environment, capture_output=True, text=True, timeout=120, check=False)
    if (ended.returncode == 0) != ends_well:
        raise AssertionError(ended.stdout + ended.stderr)


def _files_made_in(folder, call):
    """Names of all files that a call makes in a folder, those that it deletes again as well (Linux's inotify)."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(folder), 0x100) < 0:  # IN_CREATE
        raise OSError(ctypes.get_errno(), "inotify")
    try:
        call()
        told, names, at = os.read(watch, 1 << 16), set(), 0
        while at < len(told):
            length = struct.unpack_from("I", told, at + 12)[0]
            names.add(told[at + 16 : at + 16 + length].rstrip(b"\0").decode())
            at += 16 + length
        return names
    finally:
        os.close(watch)


class Sweeps(unittest.TestCase):
    def test_points_axes_and_numbers(self):
        result = switchfold.sweep(SIZES)
        points = rows(result.points)
        self.assertEqual(len(points), 6)
        self.assertEqual({row["size_number"] for row in points}, {65536, 524288, 4194304})
        self.assertTrue(all(row["status"] == "done" and row["time_us"] > 0 for row in points))
        self.assertEqual([(axis["name"], axis["unit"]) for axis in result.axes], [("algorithm", None), ("size", "B")])
        self.assertEqual(result.axes[0]["labels"], ["ring", "in_switch"])
        self.assertEqual(len(result.failures), 0)

    def test_a_sweep_in_a_folder_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            switchfold.sweep(SIZES, out=folder)
            again = switchfold.load_sweep(folder)
            self.assertEqual(rows(again.query("SELECT count(*) AS runs FROM runs"))[0]["runs"], 6)
        with self.assertRaises(switchfold.InputError):
            switchfold.load_sweep("nowhere")

    def test_points_that_fail_are_told(self):
        failing = {**SIZES, "axes": [{"name": "limit", "pointer": "/limits/simulated_time", "values": ["1 us", "1 s"]}]}
        with self.assertRaisesRegex(switchfold.SimulationError, "failed"):
            switchfold.sweep(failing)
        kept = switchfold.sweep(failing, allow_failures=True)
        self.assertEqual(len(kept.failures), 1)
        self.assertEqual(sorted(row["status"] for row in rows(kept.points)), ["done", "failed"])

    def test_an_executor_gives_the_same_database(self):
        here = rows(switchfold.sweep(SIZES).query(COMPARED))
        for executor in (concurrent.futures.ProcessPoolExecutor(2), concurrent.futures.ThreadPoolExecutor(2)):
            told = []
            with executor, tempfile.TemporaryDirectory() as folder:
                there = switchfold.sweep(SIZES, out=folder, executor=executor, tasks=4, progress=told.append)
                self.assertEqual(rows(there.query(COMPARED)), here)
                self.assertEqual(len((there.folder / "results.csv").read_text().splitlines()), 7)
                self.assertEqual(told[-1].share, 1)
                # What is done does not run again.
                with mock.patch("switchfold.executing.run_share", side_effect=AssertionError):
                    switchfold.sweep(SIZES, out=folder, executor=executor)

    def test_an_executor_tells_of_failures_and_wrong_input(self):
        failing = {**SIZES, "axes": [{"name": "limit", "pointer": "/limits/simulated_time", "values": ["1 us", "1 s"]}]}
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            with self.assertRaisesRegex(switchfold.SimulationError, "failed: "):
                switchfold.sweep(failing, executor=executor)
            kept = switchfold.sweep(failing, executor=executor, allow_failures=True)
            self.assertEqual(sorted(row["status"] for row in rows(kept.points)), ["done", "failed"])
            with self.assertRaises(switchfold.InputError):
                switchfold.sweep({**SIZES, "axes": [{"name": "x", "pointer": "/workload/siz", "values": [1]}]},
                                 executor=executor)

    def test_a_worker_that_dies_leaves_what_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            with concurrent.futures.ThreadPoolExecutor(1) as executor:
                with mock.patch("switchfold.executing.run_share", side_effect=_second_dies(switchfold.executing.run_share)):
                    with self.assertRaises(KeyboardInterrupt):
                        switchfold.sweep(SIZES, out=folder, executor=executor, tasks=6)
                kept = rows(switchfold.load_sweep(folder).query("SELECT count(*) AS runs FROM runs"))[0]["runs"]
                self.assertEqual(kept, 1)
                self.assertEqual(len(rows(switchfold.sweep(SIZES, out=folder, executor=executor).points)), 6)

    def test_what_passes_through_a_pool_of_processes_fits_its_pipe(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(__file__).with_name("dying_workers.py")
            with subprocess.Popen([sys.executable, program, folder], start_new_session=True) as process:
                try:
                    self.assertEqual(process.wait(timeout=60), 0)
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
            self.assertEqual({row["status"] for row in rows(switchfold.load_sweep(folder).points)}, {"done"})

    def test_a_killed_worker_of_a_pool_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch("switchfold.executing.run_share", side_effect=_dies):
                with concurrent.futures.ProcessPoolExecutor(2) as executor:
                    with self.assertRaisesRegex(switchfold.InternalError, f"was killed.*kept in {folder}"):
                        switchfold.sweep(SIZES, out=folder, executor=executor)
            with concurrent.futures.ProcessPoolExecutor(2) as executor:
                self.assertEqual(len(rows(switchfold.sweep(SIZES, out=folder, executor=executor).points)), 6)

    def test_a_merge_keeps_the_journal_of_one_database_alone(self):
        # That of two (sweep.db-mj...) would stay in the folder after a kill: nobody deletes it.
        made = []

        def watched(database, part):
            made.append(_files_made_in(database.parent, lambda: merge(database, part)))

        merge = switchfold.executing.merge
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(1) as executor:
            with mock.patch("switchfold.executing.merge", side_effect=watched):
                switchfold.sweep(SIZES, out=folder, executor=executor, tasks=2)
        self.assertEqual(made, [{"sweep.db-journal"}] * 2)

    def test_a_sweep_whose_writer_was_killed_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            switchfold.sweep(SIZES, out=folder)
            database = pathlib.Path(folder) / "sweep.db"
            subprocess.run([sys.executable, "-c", ENDS_WITHIN_A_TRANSACTION, database], check=True, timeout=120)
            self.assertTrue(database.with_name("sweep.db-journal").stat().st_size)
            kept = switchfold.load_sweep(folder)
            self.assertEqual(rows(kept.query("SELECT count(*) AS runs FROM runs"))[0]["runs"], 6)
            with self.assertRaisesRegex(sqlite3.OperationalError, "readonly"):
                kept.query("DELETE FROM runs")

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "python3-distributed is not installed")
    def test_dask(self):
        here = rows(switchfold.sweep(SIZES).query(COMPARED))
        told = []
        with _dask_of_two_processes() as client, tempfile.TemporaryDirectory() as folder:
            there = switchfold.sweep(SIZES, out=folder, executor=client, tasks=3, progress=told.append)
            self.assertEqual(rows(there.query(COMPARED)), here)
            self.assertEqual(told[-1].share, 1)
            with mock.patch("switchfold.executing.run_share", _dies):  # what is done does not run again
                switchfold.sweep(SIZES, out=folder, executor=client)
            self.assertEqual(rows(switchfold.sweep(SIZES, executor=client.get_executor()).query(COMPARED)), here)
            with self.assertRaisesRegex(switchfold.SimulationError, "failed: "):
                switchfold.sweep({**SIZES, "axes": [{"name": "limit", "pointer": "/limits/simulated_time", "values": ["1 us"]}]},
                                 executor=client)

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "python3-distributed is not installed")
    def test_a_killed_worker_of_dask_is_told(self):
        with _dask_of_two_processes() as client, tempfile.TemporaryDirectory() as folder:
            with mock.patch("switchfold.executing.run_share", _dies):
                with self.assertRaisesRegex(switchfold.InternalError, f"was killed.*kept in {folder}"):
                    switchfold.sweep(SIZES, out=folder, executor=client, tasks=1)
            client.wait_for_workers(2)
            self.assertEqual(len(rows(switchfold.sweep(SIZES, out=folder, executor=client).points)), 6)

    @unittest.skipUnless(importlib.util.find_spec("mpi4py") and shutil.which("mpiexec"),
                         "python3-mpi4py and openmpi-bin are not installed")
    def test_mpi(self):
        here = rows(switchfold.sweep(SIZES).query(COMPARED))
        with tempfile.TemporaryDirectory() as folder:
            _sweep_on_mpi(folder, "run")
            there = switchfold.load_sweep(folder)
            self.assertEqual(rows(there.query(COMPARED)), here)
            self.assertEqual(len((there.folder / "results.csv").read_text().splitlines()), 7)
            _sweep_on_mpi(folder, "again")  # what is done does not run again

    @unittest.skipUnless(importlib.util.find_spec("mpi4py") and shutil.which("mpiexec"),
                         "python3-mpi4py and openmpi-bin are not installed")
    def test_a_killed_worker_of_mpi_leaves_what_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            _sweep_on_mpi(folder, "killed", ends_well=False)
            kept = rows(switchfold.load_sweep(folder).query("SELECT count(*) AS runs FROM runs"))[0]["runs"]
            self.assertGreater(kept, 0)
            self.assertLess(kept, 6)
            _sweep_on_mpi(folder, "run")
            self.assertEqual({row["status"] for row in rows(switchfold.load_sweep(folder).points)}, {"done"})

    def test_an_axis_that_is_wrong(self):
        wrong = {**SIZES, "axes": [{"name": "x", "pointer": "/workload/siz", "values": [1]}]}
        with self.assertRaises(switchfold.InputError):
            switchfold.sweep(wrong)


class Plans(unittest.TestCase):
    def test_the_best_plan_and_what_it_takes(self):
        answer = switchfold.plan(switchfold.shipped("experiments/plan_gpt_hgx_h100.json"), budget=4)
        best = rows(answer.best)
        self.assertFalse(answer.proved)
        self.assertLessEqual(best[0]["bound_s"], best[0]["step_s"])
        self.assertGreaterEqual(len(answer.plans), 4)
        result = answer.run(progress=False)
        self.assertAlmostEqual(rows(result.scenarios)[0]["iteration_us"] * 1e-6, best[0]["step_s"], places=9)

    def test_memory(self):
        plans = switchfold.plan_memory(switchfold.shipped("experiments/vgg16_memory.json"), memory=["8 GiB"])
        self.assertEqual({row["memory_bytes"] for row in rows(plans.plans)}, {8 << 30})
        self.assertTrue(len(plans.updates) and len(plans.recompute))


if __name__ == "__main__":
    unittest.main()
