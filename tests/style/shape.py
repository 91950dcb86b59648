#!/usr/bin/env python3
"""shape.py [TREE] - the tree can be read by its folders and names. Prints each

  folder of a room with more than 25 sources,
  folder of a room, sources in it, without its chapter: the header that bears
  the folder's name, private in it or public, and opens with a comment of six
  lines or more,
  name of a source that stands more than three times in the rooms,
  guard of more than one header,

and exits 1 if there is any.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re
import sys

import tree

MOST_SOURCES = 25
MOST_OF_A_NAME = 3
LEAST_CHAPTER = 6


def opening(path):
    """The number of lines of the comment that a file opens with."""
    with open(path, encoding="utf-8") as text:
        lines = text.read().split("*/")[0].splitlines()
    return len(lines) if lines and lines[0].startswith("/*") else 0


def crowded(paths):
    """Folders with too many sources."""
    sizes = collections.Counter(os.path.dirname(path) for path in paths)
    for folder, size in sorted(sizes.items()):
        if size > MOST_SOURCES:
            yield f"{folder}: {size} sources (at most {MOST_SOURCES})"


def chapterless(root, paths):
    """Folders below the rooms' roots that no chapter opens. A room's root is
    opened by its meson.build."""
    folders = {os.path.dirname(path) for path in paths if path.endswith(".c")}
    for folder in sorted(folders - set(tree.ROOMS)):
        room, name = tree.room_of(folder), os.path.basename(folder)
        chapters = [f"{folder}/{name}.h", f"{room}/include/{room}/{name}.h"]
        found = [path for path in chapters if path in paths]
        lengths = [opening(os.path.join(root, path)) for path in found]
        if not found:
            yield f"{folder}: no chapter, which would be {chapters[0]}"
        elif max(lengths) < LEAST_CHAPTER:
            yield f"{found[0]}: a chapter opens with {LEAST_CHAPTER} lines"


def repeated(paths):
    """Names that stand too often."""
    named = collections.defaultdict(list)
    for path in paths:
        named[os.path.basename(path)].append(path)
    for name, found in sorted(named.items()):
        if len(found) > MOST_OF_A_NAME:
            yield (f"{name} stands {len(found)} times "
                   f"(at most {MOST_OF_A_NAME}): {' '.join(found)}")


def guards(root, paths):
    """Guards that would hide a header behind another."""
    named = collections.defaultdict(list)
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as text:
            match = re.search(r"^#ifndef (\w+_H)$", text.read(), re.M)
        if match:
            named[match.group(1)].append(path)
    for guard, found in sorted(named.items()):
        if len(found) > 1:
            yield f"{guard} guards {' and '.join(found)}"


def main():
    """Checks one tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../..")
    rooms = [path for room in tree.ROOMS for path in tree.sources(root, room)]
    every = rooms + tree.sources(root, "tests")
    offences = [*crowded(rooms), *chapterless(root, rooms), *repeated(rooms),
                *guards(root, every)]
    print("\n".join(offences), end="\n" if offences else "")
    sys.exit(1 if offences else 0)


if __name__ == "__main__":
    main()
