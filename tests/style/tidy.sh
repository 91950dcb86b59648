#!/usr/bin/env bash
# tidy.sh BUILD - clang-tidy 14 over every source of the tree that BUILD
# compiles, with the tree's .clang-tidy. Exits 1 on the first complaint.
set -euo pipefail
cd "$(dirname "$0")/../.."
python3 - "$1" <<'P' | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$1"
import json, os, sys
seen = set()
for entry in json.load(open(os.path.join(sys.argv[1],
                                         "compile_commands.json"))):
    path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
    if path.startswith(os.getcwd() + "/") and path not in seen:
        seen.add(path)
        print(path)
P
