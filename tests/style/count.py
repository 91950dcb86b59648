#!/usr/bin/env python3
"""Counts a meson testlog.json: prints "PASSED FAILED".

A skipped test counts as failed in CI: what is missing must be installed
there. No log at all is one failure, since no test ran.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sys

passed = failed = 0
try:
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            result = json.loads(line)["result"]
            if result in ("OK", "EXPECTEDFAIL"):
                passed += 1
            elif result != "SKIP" or os.environ.get("CI"):
                failed += 1
except FileNotFoundError:
    failed = 1
print(passed, failed)
