#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract of `switchfold validate`: exit codes, where output goes, the JSON.

usage: validate_command_test.py SWITCHFOLD SOURCE_DIRECTORY
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
TABLE = SOURCE / "validation/tests/synthetic_allreduce.csv"
CACHE = tempfile.TemporaryDirectory()  # results of this test alone
HEADER = "id,gpu,n_gpus,interconnect,algo,size_bytes,time_us\n"


def validate(*arguments, program=PROGRAM, cwd=SOURCE, **variables):
    variables = {name: str(value) for name, value in variables.items()}
    return subprocess.run(
        [program, "validate", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
        cwd=cwd,
        env={**{k: v for k, v in os.environ.items() if k != "SWITCHFOLD_DATA"},
             "XDG_CACHE_HOME": CACHE.name, **variables},
    )


class Validate(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def table(self, text):
        path = self.folder / "table.csv"
        path.write_text(text)
        return path

    def refused(self, *arguments, says, **variables):
        result = validate(*arguments, **variables)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn(says, result.stderr)

    def test_json_holds_cases_groups_and_what_was_not_compared(self):
        result = validate("collectives", "--data", TABLE, "--json")
        self.assertEqual(result.returncode, 1)  # the made-up numbers exceed the tolerance
        self.assertEqual(result.stderr, "")
        suite = json.loads(result.stdout)["suites"][0]
        self.assertEqual(suite["name"], "collectives")
        self.assertEqual(suite["unmatched"][0]["id"], "made_up_unknown/1024/")
        errors = [abs(case["error"]) for case in suite["cases"]]
        self.assertAlmostEqual(suite["mape"], sum(errors) / len(errors), 6)
        for group in suite["groups"]:
            members = [abs(c["error"]) for c in suite["cases"] if c["group"] == group["name"]]
            self.assertEqual(len(members), group["cases"])
            self.assertAlmostEqual(group["mape"], sum(members) / len(members), 6)
        for case in suite["cases"]:
            self.assertAlmostEqual(case["error"], case["simulated"] / case["measured"] - 1, 6)

    def test_exit_code_says_whether_the_tolerance_is_kept(self):
        first = json.loads(validate("collectives", "--data", TABLE, "--json").stdout)
        simulated = first["suites"][0]["cases"][0]["simulated"]
        row = "t,NVIDIA H100,4,HGX NVSwitch,auto,4096,{}\n"
        good = self.table(HEADER + row.format(simulated * 1.1))
        self.assertEqual(validate("collectives", "--data", good).returncode, 0)
        bad = self.table(HEADER + row.format(simulated * 2))
        result = validate("collectives", "--data", bad)
        self.assertEqual(result.returncode, 1)
        self.assertIn("OUT OF TOLERANCE", result.stdout)
        nothing = self.table(HEADER + "t,Tesla Z9,4,,auto,4096,10\n")
        self.assertEqual(validate("collectives", "--data", nothing).returncode, 1)

    def test_a_log_of_nccl_tests_on_the_system_that_is_named(self):
        log = self.folder / "all_reduce.txt"
        log.write_text(
            "# Collective test starting: all_reduce_perf\n"
            "# nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 step: 2(factor) graph: 0\n"
            "#  Rank  0 Group  0 Pid   71 on   host device  0 [0x17] NVIDIA A100-SXM4-80GB\n"
            "#  Rank  1 Group  0 Pid   71 on   host device  1 [0x18] NVIDIA A100-SXM4-80GB\n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
            "     1048576        262144     float     sum      -1    20.50   51.15   51.15      0    "
            "21.00   49.93   49.93      0\n"
            "# Avg bus bandwidth    : 50.54\n")
        system = ("--system", SOURCE / "configs/systems/dgx_a100.json")
        result = validate("collectives", "--data", log, *system, "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        suite = json.loads(result.stdout)["suites"][0]
        self.assertEqual([case["id"] for case in suite["cases"]],
                         ["all_reduce/1048576/out-of-place", "all_reduce/1048576/in-place"])
        self.assertEqual([case["measured"] for case in suite["cases"]], [20.5, 21.0])
        self.assertEqual(validate("collectives", "--data", self.folder, *system, "--json").stdout, result.stdout)
        self.refused("collectives", "--data", log, says="expected --system FILE")
        self.refused("replay", "--data", log, *system, says="expected the name of exactly one of: collectives")
        self.refused("collectives", "--data", log, "--system", self.folder / "none.json", says="none.json")

    def test_steps_of_traces_whose_ranks_were_late_keep_their_tolerance(self):
        kernels = {"time lost/all", "time lost/backward", "slowdown/all", "slowdown/backward"}
        collectives = {"residence", "overlap share"}
        for trace, rank, more in (("hta_ddp_a100_2r", 0, set()),
                                  ("hta_dlrm_a100_8r", 3, {"time lost/forward", "slowdown/forward"})):
            folder = SOURCE.parent / "shared/traces" / trace
            if not folder.is_dir():
                self.skipTest(f"needs {folder}")
            result = validate("step", "--data", folder, "--json")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            cases = {c["id"]: c for c in json.loads(result.stdout)["suites"][0]["cases"]}
            self.assertEqual(set(cases), {f"{trace}/rank{rank}/{what}" for what in kernels | collectives | more})
            # If no rank were late, a collective would take a tenth of that and overlap few kernels.
            self.assertLess(abs(cases[f"{trace}/rank{rank}/residence"]["error"]), 0.05)

    def test_bad_data_is_refused_with_file_and_line(self):
        bad = self.table(HEADER + "t,NVIDIA H100,four,,auto,4096,10\n")
        self.refused("collectives", "--data", bad, says=f"{bad}: line 2: n_gpus is \"four\"")
        self.refused("collectives", "--data", self.folder / "none.csv", says="does not exist")
        self.refused("low_sm", "--data", self.folder, says="is something else")
        self.refused("collectives", "--data", self.folder, says="nor a log of nccl-tests")
        self.refused("colectives", says='did you mean "collectives"?')
        self.refused("collectives", "replay", "--data", TABLE, says="exactly one suite")
        self.refused(SWITCHFOLD_DATA=self.folder / "none", says="expected a folder of measurements")
        self.refused("collectives", "--root", self.folder, says="holds no configs/systems")

    def test_a_suite_without_data_is_skipped_with_a_line(self):
        result = validate("replay")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"^replay\n\nskipped: no data: traces is not part of the repository")
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertEqual(result.stderr, "")
        suite = json.loads(validate("replay", "--json").stdout)["suites"][0]
        self.assertEqual(suite["cases"], [])
        self.assertRegex(suite["unmatched"][0]["why"], "^skipped: ")

    def test_a_folder_of_measurements_by_option_or_variable(self):
        (self.folder / "reference").mkdir()
        shutil.copy(TABLE, self.folder / "reference/nccl_allreduce.csv")
        # Stands for the repository's, whose simulations take minutes.
        issues = "id,collective,gpu,n_gpus,interconnect,algo,size_bytes,time_us\n"
        issues += "from_an_issue,all_gather,NVIDIA H100,4,HGX NVSwitch,auto,4096,10\n"
        (self.folder / "reference/nccl_issues.csv").write_text(issues)
        by_option = validate("collectives", "--data", self.folder, "--json")
        ids = {case["id"].split("/")[0] for case in json.loads(by_option.stdout)["suites"][0]["cases"]}
        pair = {"made_up_pair", "made_up_pair_on", "made_up_pair_off"}
        self.assertEqual(ids, {"made_up_h100", "from_an_issue", *pair})
        by_variable = validate("collectives", "--json", SWITCHFOLD_DATA=self.folder)
        self.assertEqual(by_variable.stdout, by_option.stdout)
        both = validate("collectives", "replay", "--data", self.folder, "--json")
        names = [suite["name"] for suite in json.loads(both.stdout)["suites"]]
        self.assertEqual(names, ["collectives", "replay"])

    def test_a_program_that_was_moved_finds_a_repository_from_where_it_is_called(self):
        moved = pathlib.Path(shutil.copy(PROGRAM, self.folder / "switchfold"))
        there = validate("replay", program=moved, cwd=SOURCE / "docs")
        self.assertEqual(there.returncode, 0, there.stderr)
        lost = validate("replay", program=moved, cwd=self.folder)
        self.assertEqual(lost.returncode, 2)
        self.assertIn("expected --root FOLDER", lost.stderr)
        named = validate("replay", "--root", SOURCE, program=moved, cwd=self.folder)
        self.assertEqual(named.returncode, 0, named.stderr)


if __name__ == "__main__":
    unittest.main()
