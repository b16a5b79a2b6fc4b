#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's own tables: columns named by pointer, maps, logs; rows that are left out; kept results.

usage: own_tables_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
COLLECTIVES = (
    "id,group,/system,/workload/collective,/workload/size,/scenarios/0/all_reduce/algorithm,measured/time_us\n")
MAP = {
    "$source": "made up",
    "experiment": {"name": "x", "workload": {"type": "collective"}, "scenarios": [{"name": "auto"}]},
    "id": ["what"],
    "columns": [
        {"column": "gpu", "pointer": "/system", "words": {"H100": "configs/systems/hgx_h100.json"}},
        {"column": "bytes", "pointer": "/workload/size", "unit": "B"},
    ],
    "measured": [{"column": "us", "figure": "time", "unit": "us", "low": "from", "high": "to"}],
}


class OwnTables(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def validate(self, *arguments, before=()):
        return subprocess.run(
            [PROGRAM, *before, "validate", *map(str, arguments)],
            capture_output=True, text=True, timeout=250, check=False, cwd=SOURCE,
            env={**{k: v for k, v in os.environ.items() if k != "SWITCHFOLD_DATA"},
                 "XDG_CACHE_HOME": str(self.folder / "cache")})

    def suite(self, *arguments):
        result = self.validate(*arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(result.stdout)["suites"][0]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def test_columns_named_by_pointer(self):
        table = self.write("my.csv", COLLECTIVES
                           + "small,a,hgx_h100,all_reduce,64 KiB,ring,30\n"
                           + "large,b,hgx_h100,all_gather,16 MiB,,60\n")
        suite = self.suite("--data", table)
        self.assertEqual(suite["name"], "experiments")
        self.assertEqual([c["id"] for c in suite["cases"]], ["my/small", "my/large"])
        self.assertEqual([g["name"] for g in suite["groups"]], ["a", "b"])
        self.assertEqual(suite["verdicts"], [])
        text = self.validate("--data", table).stdout
        self.assertIn("hgx_h100, ring", text)
        self.assertIn("mean absolute error over all", text)
        # The same as a run says.
        experiment = {"name": "x", "system": str(SOURCE / "configs/systems/hgx_h100.json"),
                      "workload": {"type": "collective", "collective": "all_gather", "size": "16 MiB"},
                      "scenarios": [{"name": "auto"}]}
        run = subprocess.run([PROGRAM, "run", self.write("x.json", experiment), "--json"],
                             capture_output=True, text=True, check=True)
        time = json.loads(run.stdout)["scenarios"][0]["collectives"][0]["time_us"]
        self.assertAlmostEqual(suite["cases"][1]["simulated"], time, 2)

    def test_rows_that_are_left_out_do_not_stop_the_others(self):
        table = self.write("my.csv", COLLECTIVES
                           + "unreadable,a,hgx_h100,all_reduce,64 KiB,ring,quick\n"
                           + "ragged,a,hgx_h100,all_reduce\n"
                           + "refused,a,hgx_h100,all_reduce,64 KiB,rings,30\n"
                           + "impossible,a,hgx_h100,all_reduce,1 GiB,,900\n"
                           + "good,a,hgx_h100,all_reduce,64 KiB,ring,30\n")
        suite = self.suite("--data", table)
        self.assertEqual([c["id"] for c in suite["cases"]], ["my/good"])
        why = {u["id"]: u["why"] for u in suite["unmatched"]}
        self.assertEqual(why["my/unreadable"],
                         'line 2: measured/time_us is "quick"; expected a number, or one with its unit: us, ns, ms, s')
        self.assertEqual(why["my/line 3"], "line 3: has 4 fields; expected 7, as the header has")
        self.assertRegex(why["my/refused"], r'^line 4: column /scenarios/0/all_reduce/algorithm: .*"rings".*'
                                            r'did you mean "ring"\?')
        self.assertRegex(why["my/impossible"], "^line 5: 900 us is faster than the links of hgx_h100, which need")

    def test_a_wrong_pointer_refuses_the_table(self):
        table = self.write("my.csv", "id,/system,/workload/sise,/workload/size,measured/time_us\n"
                                     "a,hgx_h100,1 MiB,1 MiB,30\n")
        result = self.validate("--data", table)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertIn('column /workload/sise: /workload/sise: unknown key, did you mean "size"?', result.stderr)
        table.write_text("id,/workload/size,measured/tmie_us\na,1 MiB,3\n")
        self.assertIn("names no figure of a result", self.validate("--data", table).stderr)

    def test_a_map_beside_the_table_or_named(self):
        rows = "what,gpu,bytes,us,from,to\na,H100,65536,30,1,200\nb,H100,65536,30,29,31\nc,Z9,1,1,,\n"
        table = self.write("my.csv", rows)
        self.write("my.map.json", MAP)
        suite = self.suite("--data", table)
        self.assertEqual([(c["id"], c["low"], c["high"]) for c in suite["cases"]],
                         [("my/a", 1, 200), ("my/b", 29, 31)])
        self.assertEqual(suite["unmatched"],
                         [{"id": "my/c", "why": 'line 4: gpu is "Z9"; expected one of: H100'}])
        self.assertIn("1 of 2 answers are outside of the interval", self.validate("--data", table).stdout)
        other = self.write("other.csv", rows)
        named = self.suite("--data", other, "--map", self.folder / "my.map.json")
        self.assertEqual([c["simulated"] for c in named["cases"]], [c["simulated"] for c in suite["cases"]])
        wrong = {**MAP, "column": []}
        self.write("my.map.json", wrong)
        result = self.validate("--data", table)
        self.assertEqual(result.returncode, 2)
        self.assertIn('did you mean "columns"?', result.stderr)
        self.assertIn("expected that alone",
                      self.validate("collectives", "--data", table, "--map", self.folder / "my.map.json").stderr)

    def test_a_folder_of_tables_and_a_question_of_its_own_for_each_row(self):
        tables = self.folder / "reference/experiments"
        tables.mkdir(parents=True)
        (tables / "q.json").write_text(json.dumps(
            {"name": "x", "system": "PLACE/systems/hgx_h100.json",
             "workload": {"type": "collective", "size": "64 KiB"},
             "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}, {"name": "auto"}]}))
        (tables / "my.csv").write_text("id,file,value\na,q.json,30\nb,none.json,30\n")
        (tables / "my.map.json").write_text(json.dumps(
            {"experiment_column": "file", "places": {"PLACE/": "configs/"},
             "measured": [{"column": "value", "figure": "time", "unit": "us"}]}))
        suite = json.loads(self.validate("experiments", "--data", self.folder, "--json").stdout)["suites"][0]
        self.assertEqual([c["id"] for c in suite["cases"]], ["my/a"])
        self.assertIn("none.json", suite["unmatched"][0]["why"])

    def test_a_log_of_rccl_tests_by_its_map(self):
        log = self.write(
            "log.txt",
            "# nThread 1 nGpus 4 minBytes 8 maxBytes 1048576 step: 2(factor) graph: 0\n"
            "# Collective test starting: all_gather_perf\n"
            "#  Rank  0 Group  0 Pid   71 on   host device  0 [0x17] NVIDIA H100\n"
            "#  Rank  1 Group  0 Pid   71 on   host device  1 [0x18] NVIDIA H100\n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
            "           0             0     float    none      -1     0.20    0.00    0.00      0    "
            "0.20    0.00    0.00      0\n"
            "     1048576        262144     float    none      -1    20.50   51.15   25.57      0    "
            "21.00   49.93   24.96      3\n"
            "# Avg bus bandwidth    : 25.57\n")
        suite = self.suite("experiments", "--data", log, "--system", "hgx_h100")
        self.assertEqual([c["id"] for c in suite["cases"]], ["log/all_gather/1048576/out-of-place"])
        self.assertEqual(suite["cases"][0]["measured"], 20.5)
        self.assertEqual([u["why"].split(": ", 1)[1] for u in suite["unmatched"]],
                         ["the row moves nothing", "the row moves nothing", "nccl-tests counted 3 wrong values"])
        self.assertIn("expected --system FILE", self.validate("experiments", "--data", log).stderr)

    def test_results_are_kept_by_row_and_by_program(self):
        table = self.write("my.csv", COLLECTIVES + "a,g,hgx_h100,all_reduce,64 KiB,ring,30\n")
        first = self.validate("--data", table, "--json", before=("-v",))
        self.assertIn("0 kept from earlier runs, 1 to simulate", first.stderr)
        again = self.validate("--data", table, "--json", before=("-v",))
        self.assertIn("1 kept from earlier runs, 0 to simulate", again.stderr)
        self.assertEqual(again.stdout, first.stdout)
        # A measured value is no input of a simulation; a new row is simulated alone.
        table.write_text(COLLECTIVES + "a,g,hgx_h100,all_reduce,64 KiB,ring,31\n"
                         + "b,g,hgx_h100,all_reduce,128 KiB,ring,31\n")
        more = self.validate("--data", table, "--json", before=("-v",))
        self.assertIn("1 kept from earlier runs, 1 to simulate", more.stderr)
        without = self.validate("--data", table, "--json", "--no-cache", before=("-v",))
        self.assertIn("0 kept from earlier runs, 2 to simulate", without.stderr)
        self.assertEqual(without.stdout, more.stdout)
        # A file that was damaged is simulated again.
        for file in (self.folder / "cache").rglob("*"):
            if file.is_file():
                file.write_bytes(file.read_bytes()[:-9])
        damaged = self.validate("--data", table, "--json", before=("-v",))
        self.assertIn("0 kept from earlier runs, 2 to simulate", damaged.stderr)
        self.assertEqual(damaged.stdout, more.stdout)

    def test_a_suite_is_kept_until_its_table_changes(self):
        rows = (SOURCE / "validation/tests/synthetic_allreduce.csv").read_text()
        table = self.write("t.csv", rows)
        first = self.validate("collectives", "--data", table, before=("-v",))
        self.assertNotIn("kept from an earlier run", first.stderr)
        again = self.validate("collectives", "--data", table, before=("-v",))
        self.assertIn("suite collectives: kept from an earlier run", again.stderr)
        self.assertEqual((again.stdout, again.returncode), (first.stdout, first.returncode))
        table.write_text(rows + "\n")
        self.assertNotIn("kept from", self.validate("collectives", "--data", table, before=("-v",)).stderr)

    def test_a_suite_is_kept_until_a_file_behind_its_system_changes(self):
        table = self.write("t.csv", (SOURCE / "validation/tests/synthetic_allreduce.csv").read_text())
        links = self.write("links.json", {"$base": str(SOURCE / "configs/systems/hgx_h100.json"), "name": "a"})
        system = self.write("s.json", {"$base": "links.json", "name": "mine"})
        arguments = ("collectives", "--data", table, "--system", system, "--json")
        first = self.validate(*arguments, before=("-v",))
        self.assertIn("kept from an earlier run", self.validate(*arguments, before=("-v",)).stderr, first.stderr)
        links.write_text(links.read_text().replace('"a"', '"a", "collectives": {"nccl_version": 21903}'))
        self.assertNotIn("kept from an earlier run", self.validate(*arguments, before=("-v",)).stderr)

    def test_a_suite_is_kept_until_a_folder_behind_a_link_changes(self):
        behind = self.folder / "behind"
        behind.mkdir()
        (behind / "nccl_allreduce.csv").write_text(
            (SOURCE / "validation/tests/synthetic_allreduce.csv").read_text())
        (behind / "nccl_issues.csv").write_text("id,n_gpus,size_bytes,time_us\nx,4,1024,10\n")
        measured = self.folder / "measured"
        measured.mkdir()
        (measured / "reference").symlink_to(behind)
        arguments = ("collectives", "--data", measured, "--json")
        self.validate(*arguments)
        self.assertIn("kept from an earlier run", self.validate(*arguments, before=("-v",)).stderr)
        with open(behind / "nccl_issues.csv", "a") as file:
            file.write("y,4,1024,10\n")
        self.assertNotIn("kept from an earlier run", self.validate(*arguments, before=("-v",)).stderr)

    def test_a_row_that_does_not_end_in_time_is_left_out(self):
        table = self.write("my.csv", "id,/system,/exact,/workload/size,measured/time_us\n"
                                     "long,hgx_h100,true,4 GiB,20000\nshort,hgx_h100,false,64 KiB,30\n")
        suite = self.suite("--data", table, "--row-seconds", 1)
        self.assertEqual([c["id"] for c in suite["cases"]], ["my/short"])
        self.assertEqual(suite["unmatched"],
                         [{"id": "my/long", "why": "line 2: did not end in 1 s of processor time"}])
        again = self.validate("--data", table, "--row-seconds", 1, before=("-v",))
        self.assertIn("2 kept from earlier runs, 0 to simulate", again.stderr)

    def test_impossible_kernels_are_left_out(self):
        table = self.write("gemm.csv", "gpu,dtype,m,n,k,time_us\n"
                                       "NVIDIA H100 SXM,bfloat16,4096,4096,4096,170\n"
                                       "NVIDIA H100 SXM,bfloat16,4096,4096,8192,17\n")
        result = self.validate("kernels", "--data", table, "--json")
        suite = json.loads(result.stdout)["suites"][0]
        self.assertEqual(len(suite["cases"]), 1, result.stdout)
        self.assertRegex(suite["unmatched"][0]["why"], "^line 3: 16169 TFLOP/s is more than the .* has at most")


if __name__ == "__main__":
    unittest.main()
