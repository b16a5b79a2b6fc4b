#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering check must fail on each kind of forbidden include, and on nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[1] / "check_layering.py"


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run(
            [sys.executable, str(CHECK), root], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout


class CheckLayering(unittest.TestCase):
    base = {
        "core/units.h": "#include <vector>\n",
        "core/kernel/scheduler.h": '#include "core/units.h"\n#include <systemc>\n',
        "workloads/graph/execution_graph.h": '#include "core/units.h"\n',
        "workloads/readers/kineto/reader.h": '#include "workloads/graph/execution_graph.h"\n',
        "interconnect/link.cpp": '#include "core/kernel/scheduler.h"\n',
        "models/gpu/gpu.h": '#include "workloads/graph/execution_graph.h"\n#include <systemc>\n',
    }

    def wrong(self, name, text, said):
        code, out = check({**self.base, name: text})
        self.assertEqual(code, 1, out)
        self.assertIn(f"{name}:1: ", out)
        self.assertIn(said, out)
        self.assertEqual(len(out.splitlines()), 1, out)

    def test_right_edges_pass(self):
        self.assertEqual(check(self.base), (0, ""))

    def test_an_empty_tree_fails(self):
        self.assertEqual(check({})[0], 1)

    def test_interconnect_knows_no_model(self):
        self.wrong("interconnect/a.h", '#include "models/gpu/gpu.h"\n', "models/gpu/gpu.h")

    def test_models_know_the_graph_alone(self):
        self.wrong("models/a.h", '#include "workloads/readers/kineto/reader.h"\n', "kineto/reader.h")

    def test_core_sees_no_systemc(self):
        self.wrong("core/a.cpp", "#include <systemc>\n", "must not include <systemc>")

    def test_a_folder_name_is_no_prefix_of_another(self):
        self.wrong("core/a.cpp", '#include "core_too/b.h"\n', "is not a file")

    def test_systemc_behind_an_allowed_header(self):
        files = {**self.base, "sim/run.h": '#include "models/gpu/gpu.h"\n'}
        code, out = check({**files, "app/main.cpp": '#include "sim/run.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("sim/run.h -> models/gpu/gpu.h -> systemc", out)

    def test_relative_includes_are_no_files(self):
        self.wrong("core/a.cpp", '#include "units.h"\n', "is not a file")

    def test_unknown_folders_fail(self):
        code, out = check({**self.base, "elsewhere/a.cpp": ""})
        self.assertEqual(code, 1)
        self.assertIn("elsewhere/a.cpp:1", out)


if __name__ == "__main__":
    unittest.main()
