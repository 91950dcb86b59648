# SPDX-License-Identifier: Apache-2.0
"""count.py: a run that was cut off, or of nothing, is none that passed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

COUNT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count.py")
LISTED = ["assay:unit / one", "assay:unit / two", "assay:e2e / three"]


class Count(unittest.TestCase):
    def count(self, log, status=0, listed=LISTED, ci=None):
        """Of a log, given as text or (name, result)s: what is printed, and
        what is said besides."""
        if not isinstance(log, (str, type(None))):
            log = "".join(json.dumps({"name": n, "result": r}) + "\n"
                          for n, r in log)
        env = {k: v for k, v in os.environ.items() if k != "CI"}
        if ci:
            env["CI"] = ci
        with tempfile.TemporaryDirectory() as top:
            with open(top + "/listed", "w", encoding="utf-8") as f:
                f.write("\n".join(listed) + "\n")
            if log is not None:
                with open(top + "/log", "w", encoding="utf-8") as f:
                    f.write(log)
            run = subprocess.run(
                [sys.executable, COUNT, str(status), top + "/listed",
                 top + "/log"], env=env, text=True, capture_output=True,
                check=True)
        return run.stdout.strip(), run.stderr

    def ran(self, *results):
        return list(zip(LISTED, results))

    def test_all_that_is_listed_passed(self):
        self.assertEqual(self.count(self.ran("OK", "EXPECTEDFAIL", "OK")),
                         ("3 0 0", ""))

    def test_each_other_result_is_a_failure(self):
        for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT",
                       "UNEXPECTEDPASS", "of a later meson"):
            with self.subTest(result):
                self.assertEqual(
                    self.count(self.ran("OK", result, "OK"), 1)[0], "2 1 0")

    def test_what_did_not_run_fails_by_name(self):
        printed, said = self.count(self.ran("OK"), 0)
        self.assertEqual(printed, "1 2 0")
        self.assertEqual(said, "did not run: assay:unit / two\n"
                         "did not run: assay:e2e / three\n")

    def test_a_log_that_was_cut_off_in_a_line(self):
        printed, said = self.count(
            '{"name": "%s", "result": "OK"}\n{"name": "assay' % LISTED[0])
        self.assertEqual(printed, "1 2 0")
        self.assertIn("did not run: " + LISTED[1], said)

    def test_no_log_at_all(self):
        self.assertEqual(self.count(None, 1)[0], "0 3 0")

    def test_two_of_one_name_are_two(self):
        self.assertEqual(
            self.count(self.ran("OK"), listed=[LISTED[0]] * 2)[0], "1 1 0")

    def test_a_run_of_nothing_is_a_failure(self):
        printed, said = self.count([], listed=["No suitable tests defined."])
        self.assertEqual(printed, "0 1 0")
        self.assertIn("none is listed", said)

    def test_an_exit_status_is_not_dropped(self):
        printed, said = self.count(self.ran("OK", "OK", "OK"), 125)
        self.assertEqual(printed, "3 1 0")
        self.assertIn("status 125", said)

    def test_what_was_skipped_is_said_and_fails_in_ci(self):
        log = self.ran("OK", "SKIP", "OK")
        self.assertEqual(self.count(log),
                         ("2 0 1", "skipped: %s\n" % LISTED[1]))
        self.assertEqual(self.count(log, ci="true")[0], "2 1 1")


if __name__ == "__main__":
    unittest.main()
