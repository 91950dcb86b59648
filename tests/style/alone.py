#!/usr/bin/env python3
"""alone.py BUILD - every header compiles alone, by the command of a source
that includes it, or lies beside it, in BUILD, which is up to date. Prints what
the compiler says, and each header that has no such source; exits 1 if there is
any.
SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def run(*words):
    """The lines that a command prints, which must succeed."""
    return subprocess.run(words, text=True, capture_output=True,
                          check=True).stdout.splitlines()


def commands(build):
    """For each object of BUILD its source, and the words that compile it up
    to where they speak of dependencies and names."""
    with open(f"{build}/compile_commands.json", encoding="utf-8") as text:
        entries = json.load(text)
    for entry in entries:
        words = shlex.split(entry["command"])
        yield (entry["output"], os.path.relpath(f"{build}/{entry['file']}"),
               words[:words.index("-MD")])


def commands_of_headers(build):
    """For each file that a source of BUILD includes, and for each folder with
    a source, a command."""
    found, words_of = {}, {}
    for output, source, words in commands(build):
        words_of[output] = words
        found[os.path.dirname(source)] = words
    words = None
    for line in run("ninja", "-C", build, "-t", "deps"):
        if line.startswith("    "):
            found[os.path.relpath(f"{build}/{line.strip()}")] = words
        else:
            words = words_of.get(line.split(":")[0])
    return found


def check(build, header, words):
    """What the compiler says of the header alone, but for its warnings: those
    would be of what only sources do."""
    if words is None:
        return f"{header}: no source includes it"
    done = subprocess.run(
        [*words, "-w", "-fdiagnostics-color=never", "-fsyntax-only",
         "-x", "c", os.path.abspath(header)],
        cwd=build, text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def main():
    """Checks the headers that git knows here."""
    build = sys.argv[1]
    found = commands_of_headers(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [words for words in pool.map(
            lambda header: check(build, header, found.get(header) or
                                 found.get(os.path.dirname(header))),
            run("git", "ls-files", "*.h")) if words]
    print("\n".join(said), end="\n" if said else "")
    sys.exit(1 if said else 0)


if __name__ == "__main__":
    main()
