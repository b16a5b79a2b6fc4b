# SPDX-License-Identifier: Apache-2.0
"""What tests of the command line share. Takes the last two arguments: the program and the source directory."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
EXAMPLE = SOURCE / "configs/experiments/example.json"
TRACE = SOURCE / "configs/examples/resnet50_ddp_synthetic.json.gz"
COLLECTIVE = {
    "name": "small",
    "system": str(SOURCE / "configs/systems/hgx_h100.json"),
    "workload": {"type": "collective", "size": "1 MiB", "ranks": 8},
}


def switchfold(*arguments, **options):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
        **options,
    )


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def experiment(self, **changes):
        path = self.folder / "experiment.json"
        path.write_text(json.dumps({**COLLECTIVE, **changes}))
        return path

    def done(self, *arguments, **options):
        result = switchfold(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")  # no progress without a terminal
        return result.stdout

    def refused(self, *arguments, says):
        """Expects exit code 2, an empty stdout, and lines "file: /pointer: what; expected" on stderr."""
        result = switchfold(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.stderr)
        for line in result.stderr.splitlines():
            self.assertRegex(line, r"^.+: .*: .+")
        return result.stderr.splitlines()
