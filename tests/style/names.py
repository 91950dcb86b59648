#!/usr/bin/env python3
"""names.py [TREE] - global names as the linker sees them. Prints each

  name that two sources of the rooms define, so that the rooms' libraries
  would not link into one program,
  name of a room that no program of the rooms reaches: what only tests call,
  or nobody,

and exits 1 if there is any. For this it builds the rooms in TREE/build-names
with nothing inlined, each name in a section of its own, and has the linker
leave out what a program does not reach: calls and tables are followed alike.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import json
import os
import shlex
import subprocess
import sys

import tree

BUILD = "build-names"
SETUP = ["-Dwarning_level=0", "-Dwerror=false",
         "-Dc_args=-w -O0 -g0 -ffunction-sections -fdata-sections",
         "-Dc_link_args=-Wl,--gc-sections"]


def run(*words):
    """What a command prints, which must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def load(path):
    """What a JSON file says."""
    with open(path, encoding="utf-8") as text:
        return json.load(text)


class Build:
    """The rooms of the tree at root, built anew where they changed."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.where = os.path.join(self.root, BUILD)
        if not os.path.exists(os.path.join(self.where, "build.ninja")):
            run("meson", "setup", *SETUP, self.where, self.root)
        run("ninja", "-C", self.where, "build.ninja")
        self.read()
        run("ninja", "-C", self.where, *self.programs, *self.libraries,
            *self.objects)

    def read(self):
        """What the rooms' build files make, as paths from the build."""
        made = load(f"{self.where}/meson-info/intro-targets.json")
        found = collections.defaultdict(list)
        for target in made:
            if self.room(target["defined_in"]) in tree.ROOMS:
                found[target["type"]] += [
                    os.path.relpath(name, self.where)
                    for name in target["filename"]]
        self.programs = found["executable"]
        self.libraries = found["static library"]
        self.objects = {}
        for entry in load(f"{self.where}/compile_commands.json"):
            if tree.room_of(entry["output"]) in tree.ROOMS:
                self.objects[entry["output"]] = os.path.relpath(
                    os.path.join(entry["directory"], entry["file"]),
                    self.root)

    def room(self, path):
        """The first folder of a path from the root."""
        return tree.room_of(os.path.relpath(path, self.root))

    def globals(self, paths):
        """Pairs of one of these objects or programs and a global name that
        it defines."""
        lines = run("nm", "-gA", "--defined-only",
                    *[f"{self.where}/{path}" for path in paths])
        for line in lines.splitlines():
            path, words = line.rsplit(":", 1)
            yield os.path.relpath(path, self.where), words.split()[2]

    def one_program(self):
        """What the linker says when it puts all libraries into one."""
        done = subprocess.run(
            ["gcc", "-r", "-nostdlib", "-o", "/dev/null",
             "-Wl,--whole-archive", *self.libraries],
            cwd=self.where, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""


def main():
    """Checks one tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    build = Build(sys.argv[1] if len(sys.argv) > 1 else f"{here}/../..")
    places = collections.defaultdict(set)
    for path, name in build.globals(build.objects):
        if name != "main":
            places[name].add(build.objects[path])
    reached = {name for _, name in build.globals(build.programs)}
    twice = [name for name in places if len(places[name]) > 1]
    for name in sorted(twice):
        print(f"{name} is defined by {' and '.join(sorted(places[name]))}")
    said = build.one_program()
    if said and not twice:
        print(said)
    dead = [name for name in places if name not in reached]
    for name in sorted(dead):
        print(f"{name} of {min(places[name])}: no program reaches it")
    sys.exit(1 if twice or said or dead else 0)


if __name__ == "__main__":
    main()
