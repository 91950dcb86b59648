#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recordings - the recorded folders that the tests read, held to their INDEX.

    recordings.py unpack TO         unpacks every archive beside this file
    recordings.py check TO          says whether they lie there as they should

Comes in: INDEX, a line a folder with the number of its recorded requests, and
FOLDER.tar.xz for each. What stands in INDEX must be there, and nothing else.
For tests: folders(TO, ...) gives the folders unpacked in TO.
"""

import glob
import os
import shutil
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
# What the tree has elsewhere.
ELSEWHERE = {
    "llama.cpp/libllama/s260k-f32.gguf": "engines/stories260k/model.gguf",
    "models/stories260k": "prover/stories260k",
}


def index():
    """Requests by folder."""
    with open(os.path.join(HERE, "INDEX"), encoding="utf-8") as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    return {folder: int(n) for folder, n in rows}


def complain_of(where, folders):
    """What of these folders is missing, too many or not whole, in words."""
    there = {os.path.relpath(os.path.dirname(path), where)
             for path in glob.glob(where + "/**/*.req", recursive=True)}
    for name in sorted(there - set(folders)):
        yield name + " is not in INDEX"
    for name, n in folders.items():
        path = os.path.join(where, name)
        have = len(glob.glob(path + "/*.req"))
        if not os.path.isdir(path):
            yield name + " is missing"
        elif have != n or len(glob.glob(path + "/*.resp")) != n:
            yield "%s has %d requests, in INDEX are %d" % (name, have, n)


def held(where):
    """Ends the program unless all lies there as INDEX has it."""
    complaints = list(complain_of(where, index()))
    if complaints:
        sys.exit("recordings in %s: %s" % (where, "; ".join(complaints)))


def folders(where, *engines):
    """Names of the recorded folders of these engines, which all are there."""
    held(where)
    return [name for name, n in index().items()
            if n > 0 and name.split("/")[0] in engines]


def archives():
    """Paths by folder, of which INDEX must have each."""
    found = {os.path.relpath(path, HERE)[:-len(".tar.xz")]: path for path in
             glob.glob(HERE + "/**/*.tar.xz", recursive=True)}
    differ = set(found) ^ set(index())
    if differ:
        sys.exit("of INDEX and of the archives only one has: %s"
                 % ", ".join(sorted(differ)))
    return found


def unpack(where):
    for name, path in archives().items():
        to = os.path.join(where, name)
        shutil.rmtree(to, ignore_errors=True)
        with tarfile.open(path) as t:
            t.extractall(to)
    for name, path in ELSEWHERE.items():
        to = os.path.join(where, name)
        if os.path.lexists(to):
            os.unlink(to)
        os.symlink(os.path.join(HERE, "..", path), to)
    held(where)


if __name__ == "__main__":
    {"unpack": unpack, "check": held}[sys.argv[1]](sys.argv[2])
