# SPDX-License-Identifier: Apache-2.0
"""Tests measure.py as far as possible without a GPU."""
import ast
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parents[1]
# One pass of a Kineto trace, with the mover's kernel beside it and a kernel after the pass.
TRACE = {
    "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "backward pass", "ts": 10, "dur": 100},
        {"ph": "X", "cat": "gpu_user_annotation", "name": "backward pass", "ts": 12, "dur": 90},
        *(
            {
                "ph": "X",
                "cat": "kernel",
                "name": name,
                "ts": ts,
                "dur": 5,
                "args": {"grid": [1, 1, 1], "block": [32, 1, 1], "registers per thread": 9},
            }
            for name, ts in (("b", 30), ("a", 20), ("void ring_mover_kernel(float4*)", 5), ("c", 200))
        ),
    ]
}


def function_of(source, *names):
    """Extracts functions of a module that cannot be imported here because it imports PyTorch."""
    tree = ast.parse((HERE / source).read_text(encoding="utf-8"))
    kept = [
        node
        for node in tree.body
        if (isinstance(node, ast.FunctionDef) and node.name in names)
        or (isinstance(node, ast.Assign) and node.targets[0].id in names)
    ]
    space = {}
    exec(compile(ast.Module(kept, []), source, "exec"), space)  # noqa: S102
    return space


class Measure(unittest.TestCase):
    def test_a_build_without_cuda_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, HERE / "measure.py", "--build", folder, "--out", folder],
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected a build with the CUDA Toolkit", done.stderr)

    def test_passes_hold_their_kernels_and_not_the_movers(self):
        space = function_of("contention.py", "kernel_of", "passes_of", "MOVER_KERNEL")
        passes = space["passes_of"](TRACE)
        self.assertEqual([[k["name"] for k in one] for one in passes], [["a", "b"]])
        self.assertEqual(passes[0][0]["registers"], 9)

    def test_every_setting_is_measured_once(self):
        space = function_of("contention.py", "items", "BLOCKS", "RATES")
        keys = [item["key"] for item in space["items"](("x", "y"))]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(len(keys), 2 + 2 * len(space["BLOCKS"]) * len(space["RATES"]))
        self.assertEqual(keys[:2], ["x alone", "y alone"])

    def test_everything_compiles(self):
        for path in HERE.glob("*.py"):
            compile(path.read_text(encoding="utf-8"), str(path), "exec")


if __name__ == "__main__":
    unittest.main()
