#!/usr/bin/env python3
"""rings.py [TREE] - arrows between files go one way. Prints, with the include
lines that make it, each

  ring of units within a room, and ring of folders within a room,
  arrow between rooms against config <- store <- the others,
  arrow between folders that tests/style/arrows.txt forbids,

and exits 1 if there is any. tree.py says what units and folders are.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import fnmatch
import os
import sys

import tree


def neighbours(arrows):
    """For each name, those that it sees."""
    table = collections.defaultdict(list)
    for source, target in sorted(arrows):
        table[source].append(target)
    return table


def way(seen, start, end):
    """The shortest way from start to end, both in it, or None."""
    before = {start: None}
    queue = collections.deque([start])
    while queue:
        here = queue.popleft()
        if here == end:
            steps = []
            while here is not None:
                steps.append(here)
                here = before[here]
            return steps[::-1]
        for name in seen[here]:
            if name not in before:
                before[name] = here
                queue.append(name)
    return None


def rings(arrows):
    """Rings that cover each arrow which is part of one, the shortest first,
    as lists of names that end where they begin."""
    seen = neighbours(arrows)
    found = []
    for source, target in sorted(arrows):
        back = way(seen, target, source)
        if back:
            found.append([source] + back)
    covered = set()
    for ring in sorted(found, key=lambda ring: (len(ring), ring)):
        if (ring[0], ring[1]) not in covered:
            covered.update(zip(ring, ring[1:]))
            yield ring


def say(offence, includes):
    """Prints an offence and what makes it."""
    print(offence)
    for include in includes:
        print(f"    {include.path}:{include.line}: {include.text}")


def check_lost(house):
    """Includes of files that are not there."""
    for include in house.lost:
        say(f"{include.path}: includes no file of the tree", [include])
    return len(house.lost)


def check_rings(house, what, name):
    """Rings over what name() gives to the files of one room."""
    count = 0
    arrows = house.arrows(name)
    for room in tree.ROOMS:
        inside = {ends: made for ends, made in arrows.items()
                  if all(tree.room_of(end) == room for end in ends)}
        for ring in rings(inside):
            count += 1
            say(f"{room}: a ring of {what}: {' -> '.join(ring)}",
                [inside[ends][0] for ends in zip(ring, ring[1:])])
    return count


def check_rooms(house):
    """Arrows between rooms that go the wrong way."""
    count = 0
    for (source, target), made in house.arrows(tree.room_of).items():
        if target not in tree.ROOMS[source]:
            count += 1
            say(f"{source} must not see {target}", made)
    return count


def within(folder, pattern):
    """Whether the folder is one that the pattern means, or lies below one."""
    parts = folder.split("/")
    depth = pattern.count("/") + 1
    return len(parts) >= depth and fnmatch.fnmatchcase(
        "/".join(parts[:depth]), pattern)


class Rules:
    """The table of arrows.txt: lines FOLDER WORD FOLDER..., where WORD is
    `not` (sees none of these), `only` (sees nothing but these and itself) or
    `apart` (no folder that the pattern means sees another of them). A folder
    stands for all below it; * is any one name."""

    def __init__(self, path):
        self.lines = []
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                if len(words) < 2 or words[1] not in ("not", "only", "apart"):
                    sys.exit(f"{path}:{number}: FOLDER not|only|apart ...")
                self.lines.append((words[0], words[1], words[2:]))

    @staticmethod
    def broken(rule, source, target):
        """Whether an arrow from source to target is against the rule."""
        folder, word, others = rule
        if not within(source, folder):
            return False
        depth = folder.count("/") + 1
        same = source.split("/")[:depth] == target.split("/")[:depth]
        if word == "apart":
            return within(target, folder) and not same
        named = any(within(target, other) for other in others)
        return named if word == "not" else not (named or same)

    def stale(self, folders):
        """The patterns that mean no folder: the table names what is gone."""
        named = [name for folder, _, others in self.lines
                 for name in [folder] + others]
        return [name for name in named
                if not any(within(folder, name) for folder in folders)]


def check_folders(house, rules):
    """Arrows between folders that the table forbids."""
    count = 0
    arrows = sorted(house.arrows(house.folder).items())
    for rule in rules.lines:
        for (source, target), made in arrows:
            if rules.broken(rule, source, target):
                count += 1
                say(f"{source} must not see {target} "
                    f"({' '.join([rule[0], rule[1]] + rule[2])})", made)
    for name in rules.stale({house.folder(path) for path in house.files}):
        count += 1
        print(f"arrows.txt: {name} is no folder of the tree")
    return count


def main():
    """Checks one tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../..")
    house = tree.Tree(root)
    rules = Rules(os.path.join(root, "tests/style/arrows.txt"))
    count = check_lost(house)
    count += check_rings(house, "units", lambda path: house.units[path])
    count += check_rings(house, "folders", house.folder)
    count += check_rooms(house)
    count += check_folders(house, rules)
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
