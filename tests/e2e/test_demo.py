#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_demo.py DEMO - the demo says what is wrong with its arguments, and ends
at once when it is told to, whatever it is doing, leaving nothing behind.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DEMO = os.path.abspath(sys.argv.pop(1))
AT_ONCE_S = 10  # on a busy machine; it is one or two


class Arguments(unittest.TestCase):
    WRONG = {
        "--twice": "no such option: --twice",
        "--engine": "--engine wants a value",
        "--engine gpt": "no such engine: 'gpt'",
        "--cheat luck": "no such cheat of engine assay: 'luck'",
        "--engine llama.cpp --cheat unreported":
            "no such cheat of engine llama.cpp: 'unreported'",
        "--engine llama.cpp --play": "the capture that --play reads",
        "--requests many": "--requests wants a count, not 'many'",
        "--requests 0": "--requests wants a count, not '0'",
    }

    def test_what_is_wrong_is_said(self):
        for words, said in self.WRONG.items():
            with self.subTest(words):
                run = subprocess.run([DEMO, *words.split()], check=False,
                                     text=True, capture_output=True)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn("demo: " + said, run.stderr)
                self.assertIn("demo.sh [--once]", run.stderr)

    def test_check_does_nothing(self):
        run = subprocess.run([DEMO, "--check", "--engine", "llama.cpp"],
                             check=True, text=True, capture_output=True)
        self.assertEqual(run.stdout + run.stderr, "")


def running(top):
    """Command lines that name the directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                words = f.read().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if top in words and int(pid) != os.getpid():
            found.append(words)
    return found


class Ended(unittest.TestCase):
    def setUp(self):
        # A signal that is ignored here stays so in what is started from here.
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self, line, number, *arguments):
        """A demo that is sent a signal once it has said a line."""
        with tempfile.TemporaryDirectory() as top:
            with subprocess.Popen([DEMO, *arguments], text=True,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE,
                                  env=dict(os.environ, TMPDIR=top)) as demo:
                for said in demo.stderr:
                    if line in said:
                        break
                else:
                    self.fail("it never said: " + line)
                time.sleep(0.5)
                self.assertNotEqual(running(top), [])
                start = time.monotonic()
                demo.send_signal(number)
                demo.stderr.read()
                self.assertEqual(demo.wait(), 128 + number)
            self.assertLess(time.monotonic() - start, AT_ONCE_S)
            self.assertEqual(running(top), [])
            self.assertEqual(os.listdir(top), [])

    def test_while_it_starts(self):
        self.check("== starting store", signal.SIGTERM)

    def test_while_it_sends(self):
        self.check("sending 9999 requests", signal.SIGTERM, "--requests",
                   "9999")

    def test_while_it_sends_by_ctrl_c(self):
        self.check("sending 9999 requests", signal.SIGINT, "--requests",
                   "9999")

    def test_while_it_judges(self):
        self.check("== sealing", signal.SIGTERM, "--requests", "60")

    def test_while_it_serves(self):
        self.check("== serving", signal.SIGTERM, "--requests", "2")


if __name__ == "__main__":
    unittest.main()
