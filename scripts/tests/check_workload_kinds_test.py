#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check must find each way of asking which kind a workload is, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[1] / "check_workload_kinds.py"

PARAMS = """struct {name}Params {{
    static constexpr std::string_view kType = "{word}";
}};
"""
ROWS = """#include "sim/kinds/toy/toy_params.h"
#include "sim/kinds/game/game_params.h"
using WorkloadRows = std::variant<ToyParams, GameParams>;
"""
FAMILY = {
    "sim/kinds/rows.h": ROWS,
    "sim/kinds/toy/toy_params.h": PARAMS.format(name="Toy", word="toy"),
    "sim/kinds/game/game_params.h": PARAMS.format(name="Game", word="game"),
    "sim/kinds/toy/toy_kind.cpp": "auto& w = std::get<ToyParams>(workload);\n",
    "app/main.cpp": 'if (file.type == "toys")\n    std::visit(show, shape);\n',
}


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**FAMILY, **files}.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, str(CHECK), root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class CheckWorkloadKinds(unittest.TestCase):
    def wrong(self, text, said, name="sim/results/summary.cpp"):
        code, out = check({name: "\n" + text})
        self.assertEqual(code, 1, out)
        self.assertIn(f"{name}:2: {said}", out)
        self.assertEqual(len(out.splitlines()), 1, out)

    def test_the_family_may_ask(self):
        self.assertEqual(check({}), (0, ""))

    def test_tests_may_ask(self):
        self.assertEqual(check({"sim/tests/a_test.cpp": "std::get<ToyParams>(*workload);\n"}), (0, ""))

    def test_the_variant_is_not_asked(self):
        self.wrong("auto* toy = std::get_if<ToyParams>(&workload);\n", "asks the variant")
        self.wrong("return std::holds_alternative<GameParams>(w);\n", "asks the variant")
        self.wrong("std::visit(\n    [](const auto& w) {}, workload);\n", "visits the variant")

    def test_a_workload_is_not_asked_for_parameters(self):
        self.wrong("if (workload.as<ToyParams>() != nullptr)\n", "asks a workload")
        self.wrong("return experiment.workload->as<\n    GameParams>();\n", "asks a workload", "app/run.cpp")

    def test_no_word_is_compared(self):
        self.wrong('if (w.type == "game")\n', "compares the word")
        self.wrong('return result.workload.type != "shared";\n', "compares the word", "app/run.cpp")
        self.wrong('if (data.workload.type === "toy") return;\n', "compares the word", "sim/output/report/run.js")
        self.wrong('return ["toys"].includes(data.workload.type);\n', "compares the word", "sim/output/report/run.js")
        self.wrong("w.type = GameParams::kType;\n", "names the word")

    def test_only_folders_of_one_kind_ask_for_it(self):
        self.wrong("auto* toy = workload_of<ToyParams>(experiment);\n", "asks for ToyParams", "sim/planner/planner.cpp")
        self.wrong("workload_of<\n    ToyParams>(experiment);\n", "asks for ToyParams")

    def test_a_row_without_a_word_fails(self):
        code, _ = check({"sim/kinds/toy/toy_params.h": "struct ToyParams {\n    int size = 0;\n};\n"})
        self.assertNotEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
