#!/usr/bin/env python3
"""Counts a run of meson's tests: prints "PASSED FAILED SKIPPED".

    count.py STATUS LISTED LOG

Comes in: the exit status of `meson test`, what `meson test --list` names for
the same suites, and the testlog.json of the run. Each test that is listed and
did not run is a failure, and so is a run of none; names of what did not run or
was skipped go to stderr. A skipped test counts as failed in CI: what is missing
must be installed there.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import json
import os
import sys


def complain(words, names):
    for name in names:
        print("%s: %s" % (words, name), file=sys.stderr)


def results(path):
    """(name, result) of each test in the log, which may have been cut off."""
    try:
        with open(path, encoding="utf-8") as log:
            for line in log:
                row = json.loads(line)
                yield row["name"], row["result"]
    except (FileNotFoundError, ValueError):
        return


def count(status, listed, ran):
    """Passed, failed and skipped of these names and (name, result)s."""
    names = {kind: [] for kind in ("passed", "failed", "skipped")}
    for name, result in ran:
        kind = {"OK": "passed", "EXPECTEDFAIL": "passed",
                "SKIP": "skipped"}.get(result, "failed")
        names[kind].append(name)
    missing = collections.Counter(listed)
    missing.subtract(name for name, _ in ran)
    missing = list((+missing).elements())
    complain("did not run", missing)
    complain("skipped", names["skipped"])
    passed, failed, skipped = (len(n) for n in names.values())
    failed += len(missing)
    if not listed:
        complain("did not run", ["any test, since none is listed"])
        failed += 1
    if status != 0 and failed == 0:
        complain("meson test", ["status %d, though no test failed" % status])
        failed += 1
    return passed, failed, skipped


def main():
    status, listed, log = sys.argv[1:]
    with open(listed, encoding="utf-8") as f:
        listed = [line.strip() for line in f if " / " in line]
    passed, failed, skipped = count(int(status), listed, list(results(log)))
    if os.environ.get("CI"):
        failed += skipped
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
