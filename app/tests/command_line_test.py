#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract of the command line: exit codes, where output goes, the files of a run's folder.

usage: command_line_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import pathlib
import subprocess
import time
import unittest

from command_line_checks import COLLECTIVE, EXAMPLE, Folder, PROGRAM, SOURCE, TRACE, switchfold


class Arguments(Folder):
    def test_help_has_an_example_for_each_command(self):
        text = self.done("--help")
        for command in ("run", "report", "trace", "describe", "schema"):
            self.assertIn(f"  {command} ", text)
            self.assertIn("Example:", self.done(command, "--help"))

    def test_verbose_tells_on_stderr_and_leaves_stdout_alone(self):
        path, out = self.experiment(), self.folder / "out"
        plain = switchfold("run", path)
        self.assertEqual(plain.stderr, "")
        for arguments in (["-v", "run", path], ["run", path, "--verbose"], ["run", "-q", path]):
            done = switchfold(*arguments, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, plain.stdout + f"\nresults: {out / 'result.json'}\n")
            if "-q" in arguments:
                self.assertEqual(done.stderr, "")
            else:
                for step in (f"reading {path}", "8 ranks", "2 scenarios", f"wrote {out}"):
                    self.assertIn(step, done.stderr)
        self.refused("run", path, "-v", "-q", says="--quiet")

    def test_version(self):
        self.assertRegex(self.done("--version"), r"^switchfold \d+\.\d+\.\d+\n$")

    def test_wrong_arguments_are_one_line_and_exit_2(self):
        for arguments in (
            [],
            ["nonsense"],
            ["run"],
            ["run", EXAMPLE, "--nonsense"],
            ["run", EXAMPLE, "--jobs", "0"],
            ["run", EXAMPLE, "--jobs", "many"],
            ["trace"],
        ):
            with self.subTest(arguments):
                self.assertEqual(len(self.refused(*arguments, says="switchfold: ")), 1)


    def test_an_unknown_command_is_named_with_the_nearest(self):
        says = ['unknown command "runn"', 'did you mean "run"?', "expected one of: "]
        self.refused("runn", EXAMPLE, says=says)
        self.refused("trace", "inspct", TRACE, says=['unknown command "inspct"', '"inspect"?'])

    def test_output_that_cannot_be_delivered_is_an_error(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        for arguments in (["schema"], ["describe", COLLECTIVE["system"]]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(
                    [PROGRAM, *arguments],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=250,
                    check=False,
                )
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("standard output: ", done.stderr)


class StandardInput(Folder):
    def test_an_experiment_is_what_its_file_is(self):
        results = []
        for source, given in ((self.experiment(), None), ("-", json.dumps(COLLECTIVE))):
            result = json.loads(self.done("run", source, "--json", input=given))
            del result["host"]
            results.append(result)
        self.assertEqual(*results)

    def test_paths_in_it_are_relative_to_the_working_folder(self):
        experiment = json.dumps({**COLLECTIVE, "system": "hgx_h100.json"})
        self.done("run", "-", input=experiment, cwd=SOURCE / "configs/systems")
        elsewhere = switchfold("run", "-", input=experiment, cwd=self.folder)
        self.assertEqual(elsewhere.returncode, 2)
        self.assertIn("-: /system: names the file hgx_h100.json", elsewhere.stderr)

    def test_a_sweep_and_a_system(self):
        sweep = {"name": "s", "experiment": COLLECTIVE, "axes": [{"name": "n", "pointer": "/workload/ranks", "values": [2, 4]}]}
        self.done("sweep", "-", "--out", self.folder / "sweep", input=json.dumps(sweep))
        system = pathlib.Path(COLLECTIVE["system"])
        self.assertEqual(self.done("describe", "-", input=system.read_text(), cwd=system.parent), self.done("describe", system))

    def test_nothing_is_no_experiment(self):
        done = switchfold("run", "-", input="")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^-: ")


class BadInput(Folder):
    def test_each_names_file_and_pointer(self):
        cases = {
            "unknown key": ({"nam": "x"}, "/nam: unknown key"),
            "suggestion": ({"scenario": []}, 'did you mean "scenarios"'),
            "unit": ({"workload": {"type": "collective", "size": 5}}, "/workload/size: "),
            "missing": ({"workload": {"type": "collective"}}, "/workload/size: is missing"),
            "kind": ({"workload": {"type": "colective"}}, 'did you mean "collective"'),
            "system": ({"system": "nowhere.json"}, "/system: "),
            "ranks": ({"workload": {**COLLECTIVE["workload"], "ranks": 9}}, "ranks"),
        }
        for name, (changes, says) in cases.items():
            with self.subTest(name):
                path = self.experiment(**changes)
                self.refused("run", path, says=[str(path), says])

    def test_all_problems_of_a_file_at_once(self):
        path = self.experiment(one=1, two=2, workload={"type": "collective"})
        self.assertEqual(len(self.refused("run", path, says=["/one", "/two", "/workload"])), 3)

    def test_files_that_are_none(self):
        self.refused("run", self.folder / "none.json", says="none.json")
        self.refused("run", self.folder, says=str(self.folder))
        broken = self.folder / "broken.json"
        broken.write_text('{"name": "x",}')
        self.refused("run", broken, says="broken.json")

    def test_overrides_must_reach_something(self):
        path = self.experiment()
        self.refused("run", path, "--set", "/workload/siz=1 MiB", says="/workload/siz")
        self.refused("run", path, "--set", "no pointer", says="no pointer")
        self.refused("run", path, "--set", "/workload/size=1", says="/workload/size")

    def test_a_folder_that_cannot_be_written(self):
        taken = self.folder / "file"
        taken.write_text("")
        self.refused("run", self.experiment(), "--out", taken, says=str(taken))

    def test_traces_that_are_none(self):
        for name, content in {
            "text": b"no trace",
            "empty": b"",
            "cut.gz": TRACE.read_bytes()[:3000],
            "no_events": b"{}",
            "no_kernels": b'{"traceEvents": []}',
        }.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(content)
                self.refused("trace", "check", path, says=str(path))


class Run(Folder):
    def test_stdout_is_the_table_or_the_json_and_no_file_appears(self):
        path = self.experiment()
        table = self.done("run", path, cwd=self.folder)
        self.assertIn("in_switch", table)
        result = json.loads(self.done("run", path, "--json", cwd=self.folder))
        self.assertEqual(result["experiment"], "small")
        self.assertEqual([s["name"] for s in result["scenarios"]], ["ring", "in_switch"])
        self.assertEqual([p.name for p in self.folder.iterdir()], [path.name])

    def test_an_override_reaches_into_the_system(self):
        path = self.experiment()
        slow = ("--set", "/system/topology/link/lane_bandwidth=5 GB/s")
        taken = lambda *more: json.loads(self.done("run", path, "--json", *more))["scenarios"][0][
            "collectives"
        ][0]["time_us"]
        self.assertGreater(taken(*slow), taken())

    def test_the_effective_configuration_is_an_experiment_with_the_same_result(self):
        out = self.folder / "out"
        self.done("run", self.experiment(), "--out", out)
        again = json.loads(self.done("run", out / "effective-config.json", "--json"))
        first = json.loads((out / "result.json").read_text())
        self.assertEqual(again["config_digest"], first["config_digest"])
        self.assertEqual(again["scenarios"], first["scenarios"])


def tiny_trace(rank, reductions):
    """A trace of one rank of two, with three kernels and some all-reduces after them."""
    events = []

    def launch(name, start, stream, duration, **more):
        link = {"correlation": len(events)}
        call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
        events.append({"ph": "X", **call, "ts": start, "dur": 1, "args": link})
        shape = {"grid": [64, 1, 1], "block": [256, 1, 1], "registers per thread": 32}
        args = {**link, **shape, "stream": stream, "device": rank, "shared memory": 0, **more}
        kernel = {"cat": "kernel", "name": name, "pid": 0, "tid": stream}
        events.append({"ph": "X", **kernel, "ts": start + 2, "dur": duration, "args": args})

    for i in range(3):
        launch("gemm", 10 + 100 * i, 7, 20)
    what = {
        "Collective name": "allreduce",
        "In msg nelems": 1 << 18,
        "dtype": "Float",
        "Group size": 2,
        "Process Group Name": "0",
        "Process Group Ranks": "[0, 1]",
    }
    for i in range(reductions):
        launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 310 + 100 * i, 20, 50, **what)
    return json.dumps(
        {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
            "traceEvents": events,
        }
    )


class Failure(Folder):
    def two_ranks(self, *reductions):
        for rank, count in enumerate(reductions):
            (self.folder / f"rank{rank}.json").write_text(tiny_trace(rank, count))
        return self.experiment(workload={"type": "trace", "files": ["rank0.json", "rank1.json"]})

    def test_ranks_that_agree_finish(self):
        self.done("run", self.two_ranks(2, 2))

    def test_ranks_that_were_not_traced_are_made_up_only_when_asked_for(self):
        def workload(files, **ranks):
            self.two_ranks(2, 2)
            return self.experiment(workload={"type": "trace", "files": files, **ranks})

        one = workload(["rank1.json"])
        self.refused("run", one, says=["without rank 0", '"ranks": 2 if this one may stand for all'])
        self.done("run", workload(["rank1.json"], ranks=2))
        both = ["rank0.json", "rank1.json"]
        self.refused("run", workload(both, ranks=3), says="give 2 of 3 ranks, without rank 2")
        out = self.folder / "extrapolated"
        self.done("run", workload(both, ranks=4), "--out", out)
        notes = json.loads((out / "result.json").read_text())["workload"]["notes"]
        self.assertTrue(any("extrapolated from 2 ranks to 4" in note for note in notes), notes)

    def test_a_run_says_that_its_trace_contradicts_itself(self):
        def notes(trace):
            (self.folder / "rank0.json").write_text(json.dumps(trace))
            workload = {"type": "trace", "files": ["rank0.json"], "ranks": 2}
            result = json.loads(self.done("run", self.experiment(workload=workload), "--json"))
            return [note for note in result["workload"]["notes"] if "cannot be trusted" in note]

        trace = json.loads(tiny_trace(0, 2))
        self.assertEqual(notes(trace), [])
        first = next(event for event in trace["traceEvents"] if event["cat"] == "kernel")
        inside = {**first, "name": "inside", "ts": first["ts"] + 0.2 * first["dur"], "dur": 0.2 * first["dur"]}
        trace["traceEvents"].append(inside)
        self.assertEqual(len(notes(trace)), 1)
        self.assertIn("rank0.json", notes(trace)[0])
        checked = switchfold("trace", "check", self.folder / "rank0.json")
        self.assertEqual(checked.returncode, 2)
        self.assertIn("before it on its stream", checked.stderr)

    def test_trace_check_says_what_is_wrong_with_ranks_together(self):
        self.two_ranks(2, 1)
        both = [self.folder / "rank0.json", self.folder / "rank1.json"]
        done = switchfold("trace", "check", *both)
        self.assertEqual(done.returncode, 2)
        self.assertIn("verdict: cannot be trusted", done.stdout)
        self.assertIn("which 1 of the 2 traced ranks of the group have", done.stderr)
        done = switchfold("trace", "check", "--json", *both)
        self.assertEqual(json.loads(done.stdout)["verdict"], "cannot be trusted")
        self.two_ranks(2, 2)
        report = json.loads(self.done("trace", "check", "--json", *both))
        self.assertEqual(report["problems"], [])
        self.assertEqual(len(report["files"]), 2)

    def test_a_rank_that_never_comes_is_exit_3_and_named(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "result.json").write_text("of an earlier run")
        done = switchfold("run", self.two_ranks(2, 1), "--out", out)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("waits for rank 1", done.stderr)
        self.assertEqual(list(out.iterdir()), [])

    def test_a_killed_run_leaves_nothing_that_reads_as_whole(self):
        out = self.folder / "out"
        with subprocess.Popen(
            [PROGRAM, "run", EXAMPLE, "--out", out],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            deadline = time.monotonic() + 120
            while not out.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            process.kill()
        self.assertEqual(process.returncode, -9)
        self.assertEqual([p for p in out.iterdir() if not p.name.startswith(".partial-")], [])
        self.refused("report", out, says="finished run")
        # The next run into the same folder removes the leftover.
        self.done("run", EXAMPLE, "--out", out)
        self.assertEqual([p for p in out.iterdir() if p.name.startswith(".partial-")], [])

    def test_workers_die_with_a_killed_run(self):
        def alive(pid):
            try:
                text = pathlib.Path(f"/proc/{pid}/stat").read_text()
            except FileNotFoundError:
                return False
            return text.rpartition(")")[2].split()[0] != "Z"  # not a zombie

        # Takes minutes, so that the run is killed before its end.
        whole = self.experiment(
            workload={"type": "collective", "collective": "all_reduce", "size": "1 TiB"},
            memory="ignore",
            scenarios=[{"name": name} for name in ("a", "b")],
        )
        with subprocess.Popen(
            [PROGRAM, "run", whole, "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            deadline = time.monotonic() + 120
            workers = []
            while len(workers) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
                workers = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            process.kill()
        self.assertEqual(len(workers), 2)
        deadline = time.monotonic() + 60
        while any(alive(w) for w in workers) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual([w for w in workers if alive(w)], [])

    def test_a_run_beyond_its_limits_is_given_up_and_says_who_waits(self):
        for limit, value, says in [
            ("real_time", "1 ns", "1 ns of real time allowed by /limits/real_time"),
            ("simulated_time", "1 us", "1 us of simulated time that this workload could need"),
        ]:
            done = switchfold("run", EXAMPLE, "--set", f"/limits/{limit}={value}")
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(says, done.stderr)
            self.assertIn("ranks did not finish: ", done.stderr)
            self.assertIn("rank 0 operation", done.stderr)
        self.refused("run", EXAMPLE, "--set", "/limits/idle_events=3", says="/limits/idle_events")
        self.refused("run", EXAMPLE, "--set", "/limits/wall=1 s", says="/limits/wall")

    def test_a_training_beyond_its_limit_is_given_up_and_says_how_far_it_came(self):
        done = switchfold("run", SOURCE / "configs/experiments/members_join_and_leave.json",
                          "--set", "/learning/steps=1000000", "--set", "/limits/real_time=2 s")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, "^four stay, seed [0-9]: learning at .*: takes longer than the 2 s of real time "
                                      "allowed by /limits/real_time; [0-9]+ of 1000000 steps are done$")

    def test_a_lane_count_that_nothing_can_carry_is_bad_input(self):
        self.refused(
            "run", EXAMPLE, "--set", "/system/topology/lanes_to_switch/0=65536",
            says="/lanes_to_switch/0",
        )
        cluster = SOURCE / "configs/systems/dgx_h100_ndr.json"
        self.refused(
            "run", EXAMPLE, "--set", f'/system="{cluster}"', "--set", "/system/topology/nodes=16384",
            says="/topology/nodes: is 16384, of 8 GPUs each; expected at most 65536 GPUs in all",
        )


class Looks(Folder):
    def test_trace_inspect_and_check(self):
        for what in ("inspect", "check"):
            text = self.done("trace", what, TRACE)
            self.assertIn("1362 kernels, 10 collectives, 4 copies", text)
            self.assertIn("synthetic", text)

    def test_trace_inspect_as_json(self):
        found = json.loads(self.done("trace", "inspect", "--json", TRACE))
        rank = found["ranks"][0]
        self.assertEqual((rank["kernels"], rank["collectives"], rank["copies"]), (1362, 10, 4))
        self.assertEqual(sum(phase["kernels"] for phase in rank["phases"]), 1362)
        self.assertEqual(sum(c["count"] for c in rank["collectives_by_size"]), 10)
        self.assertGreater(rank["overlap_share"], 0.5)

    def test_trace_convert_loses_nothing(self):
        out = self.folder / "trace.swt"
        self.assertEqual(self.done("trace", "convert", TRACE, "--out", out), "")
        self.assertLess(out.stat().st_size, TRACE.stat().st_size)
        before, after = (self.done("trace", "inspect", path) for path in (TRACE, out))
        self.assertEqual(before.splitlines()[1:], after.splitlines()[1:])
        again = self.folder / "again.swt"
        self.done("trace", "convert", out, "--out", again)
        self.assertEqual(self.done("trace", "inspect", again).splitlines()[1:], after.splitlines()[1:])
        self.refused("trace", "convert", TRACE, "--out", self.folder / "no/folder", says="no/folder")

    def test_describe_says_what_was_measured(self):
        lines = self.done("describe", SOURCE / "configs/systems/hgx_h100.json").splitlines()
        measured = {line.split()[0]: line for line in lines if line.startswith("  ") and ("no measurement" in line or "  from " in line)}
        self.assertIn("no measurement", measured["scatter"])
        self.assertIn("from h100_8g_xxrjun_sr", measured["send_receive"])
        known = lines[lines.index("how well it is known:"):]
        self.assertTrue(any(line.startswith("  collectives ") and " rows of " in line for line in known), known)
        self.assertTrue(any(line.startswith("  kernels of H100 ") for line in known), known)
        unknown = self.done("describe", SOURCE / "configs/systems/klenk_16.json")
        self.assertIn("nothing was measured on this system", unknown)
        self.assertNotIn("measured times", self.done("describe", SOURCE / "configs/systems/xeon_phi_5110p.json"))

    def test_calibrate_refuses_what_it_cannot_use(self):
        out = self.folder / "mine.json"
        self.refused("calibrate", "hgx_h100", "--out", out, says="has no measurements; expected --data or --trace")
        self.refused("calibrate", "hgx_h100", "--data", self.folder / "none.txt", "--out", out, says="none.txt")
        self.refused("calibrate", "hgx_h1000", "--data", "x", "--out", out, says="expected a system")
        table = self.folder / "table.csv"
        table.write_text("a,b\n1,2\n")
        self.refused("calibrate", "hgx_h100", "--data", table, "--out", out, says="is not a table that is known")
        self.assertFalse(out.exists())

    def test_describe_every_system_that_ships(self):
        systems = sorted((SOURCE / "configs/systems").glob("*.json"))
        self.assertTrue(systems)
        for system in systems:
            self.assertIn(json.loads(system.read_text())["name"], self.done("describe", system))

    def test_generated_files_are_what_the_sources_declare(self):
        script = [SOURCE / "scripts/update_schemas", PROGRAM, self.folder]
        subprocess.run(script, check=True, timeout=100)
        fresh = [p.relative_to(self.folder) for p in self.folder.rglob("*") if p.is_file()]
        self.assertEqual(len(fresh), 16)
        for path in fresh:
            same = (self.folder / path).read_text() == (SOURCE / path).read_text()
            self.assertTrue(same, f"{path} is old; run scripts/update_schemas")

    def test_schema_of_each_kind_is_json(self):
        for kind in ("experiment", "system", "gpu", "trace"):
            schema = json.loads(self.done("schema", kind))
            self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.refused("schema", "nonsense", says="nonsense")


if __name__ == "__main__":
    unittest.main()
