# SPDX-License-Identifier: Apache-2.0
"""A page between "Words." and "More.", held by a script to a program that the test writes."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[1]


class HeldPageCase(unittest.TestCase):
    SCRIPT = ""  # its name
    PROGRAM = ""  # its text
    SLOW = False

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.program = self.folder / "switchfold"
        self.program.write_text(self.PROGRAM)
        self.program.chmod(0o755)

    def hold(self, lines, write):
        """Exit code, output, and the page afterwards."""
        page = self.folder / "page.md"
        page.write_text("\n".join(["Words.", "", *lines, "", "More.", ""]))
        done = subprocess.run([sys.executable, SCRIPTS / self.SCRIPT, *(["--write"] if write else []),
                               *(["--slow"] if self.SLOW else []), self.program, page],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, page.read_text()
