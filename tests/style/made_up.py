"""Trees made up for the tests of these tools.
SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class MadeUp(unittest.TestCase):
    """A test that runs a tool over a tree of its own."""

    tool = None

    def check(self, files, args):
        """The lines that the tool prints, and whether it is content, of a
        tree of these files, given as {path: text}."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                where = os.path.join(root, path)
                os.makedirs(os.path.dirname(where), exist_ok=True)
                with open(where, "w", encoding="utf-8") as out:
                    out.write(text)
            done = subprocess.run(
                [sys.executable, os.path.join(HERE, self.tool), *args],
                cwd=root, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines(), done.returncode == 0

    def assert_clean(self, files, args=(".",)):
        """The tool has nothing to say of these files."""
        self.assertEqual(self.check(files, args), ([], True))

    def assert_offence(self, files, *lines, args=(".",)):
        """The tool says these lines of these files, and no others."""
        self.assertEqual(self.check(files, args), (list(lines), False))
