"""What the rooms are made of: files, units, folders, and who includes whom.

A unit is x.c with its x.h, private beside it or public under include/, and
the .inc files that it alone includes. A folder is a directory of a room; its
root is one too. A public header lies in the folder of its x.c; one that no .c
bears the name of is an interface, and a folder of its own.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re

# Each room, with the rooms that it may see.
BELOW = ("config", "store")
ROOMS = {"config": (), "store": ("config",), "tap": BELOW, "sampler": BELOW,
         "recompute": BELOW, "web": BELOW}

SOURCES = (".c", ".h", ".inc", ".cu")

# A part's name that a macro holds is included where the macro is.
INCLUDE = re.compile(
    r'\s*#\s*(?:include\s+"([^"]+)"|define\s+\w+\s+"([^"]+\.inc)")')

Include = collections.namedtuple("Include", "path line text target")


def room_of(path):
    """The room of a path, which is its first part."""
    return path.split("/", 1)[0]


def stem(path):
    """The path without its extension."""
    return os.path.splitext(path)[0]


def base(path):
    """The file's name without its extension."""
    return stem(os.path.basename(path))


def sources(root, top):
    """The paths of the sources below the directory top, sorted."""
    found = []
    for folder, _, names in os.walk(os.path.join(root, top)):
        found += [os.path.relpath(os.path.join(folder, name), root)
                  for name in names if name.endswith(SOURCES)]
    return sorted(found)


class Tree:
    """The rooms of the tree at root, read once."""

    def __init__(self, root):
        self.root = root
        self.files = [path for room in ROOMS for path in sources(root, room)]
        self.known = set(self.files)
        self.lost = []
        self.includes = {path: self.read(path) for path in self.files}
        self.owners = {}
        for path in self.files:
            if self.is_public(path):
                self.owners[path] = self.implementer(path)
        self.units = {path: self.unit_at_first(path) for path in self.files}
        self.adopt_parts()

    def read(self, path):
        """The includes of a file; those of no known file are in lost."""
        found = []
        with open(os.path.join(self.root, path), encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                name = match.group(1) or match.group(2)
                target = self.resolve(path, name)
                found.append(Include(path, number, line.strip(), target))
        self.lost += [i for i in found if i.target is None]
        return [i for i in found if i.target is not None]

    def resolve(self, path, name):
        """The file that an include of name means in the file at path."""
        room = room_of(path)
        places = [os.path.dirname(path), room, f"{room}/include"]
        places += [f"{other}/include" for other in ROOMS]
        for place in places:
            target = os.path.normpath(os.path.join(place, name))
            if target in self.known:
                return target
        return None

    @staticmethod
    def is_public(path):
        """Whether it is a header under its room's include/."""
        return path.split("/")[1] == "include"

    def implementer(self, header):
        """The .c that bears a public header's name and includes it: the one
        whose first include it is, if there are several."""
        found = []
        for path in self.files:
            targets = [i.target for i in self.includes[path]]
            if (path.endswith(".c") and base(path) == base(header)
                    and room_of(path) == room_of(header)
                    and header in targets):
                found.append((targets.index(header), path))
        return min(found)[1] if found else None

    def unit_at_first(self, path):
        """The unit of a file, .inc files being units of their own."""
        if path.endswith(".inc"):
            return path
        return stem(self.owners.get(path) or path)

    def adopt_parts(self):
        """Gives each .inc file to the unit that alone includes it."""
        users = collections.defaultdict(set)
        for path in self.files:
            for include in self.includes[path]:
                users[include.target].add(path)
        changed = True
        while changed:
            changed = False
            for path in self.files:
                if self.units[path] != path:
                    continue
                owners = {self.units[user] for user in users[path]} - {path}
                if len(owners) == 1:
                    self.units[path] = owners.pop()
                    changed = True

    def folder(self, path):
        """The folder of a file."""
        if self.is_public(path):
            owner = self.owners[path]
            return os.path.dirname(owner) if owner else path
        return os.path.dirname(path)

    def arrows(self, name):
        """Who sees whom: a table from (from, to) to the includes that make
        the arrow, over the names that name() gives to files."""
        table = collections.defaultdict(list)
        for path in self.files:
            for include in self.includes[path]:
                ends = name(path), name(include.target)
                if ends[0] != ends[1]:
                    table[ends].append(include)
        return dict(table)
