# SPDX-License-Identifier: Apache-2.0
"""Small traces with faults that public ones have: all are read right, or refused with the reason.

usage: trace_cases_test.py PROGRAM SOURCE
Ends with 77 (skipped) where ../shared/cases/traces is absent.
"""
import os
import subprocess
import sys

program, source = sys.argv[1:3]
cases = os.path.join(source, "..", "shared", "cases", "traces")
runner = os.path.join(cases, "run_cases.py")
if not os.path.exists(runner):
    print(f"skipped: {runner} is not there")
    sys.exit(77)
ended = subprocess.run([sys.executable, runner, "--program", program, "--configs", os.path.join(source, "configs"),
                        "--all", os.path.join(cases, "cases.json")], capture_output=True, text=True, timeout=500)
print(ended.stdout + ended.stderr)
sys.exit(ended.returncode)
