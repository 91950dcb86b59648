#!/usr/bin/env bash
# tidy.sh BUILD [--analyze] - clang-tidy 14 with the tree's .clang-tidy over
# every source of the tree that BUILD compiles; --analyze: clang's analyzer
# instead. Prints each complaint; exits 1 if there is any.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
checks=()
[ "${2:-}" != --analyze ] || checks=(
    "--checks=-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling")

sources() {
    python3 - "$build" <<'P'
import json, os, sys
seen = set()
for entry in json.load(open(os.path.join(sys.argv[1],
                                         "compile_commands.json"))):
    path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
    if path.startswith(os.getcwd() + "/") and path not in seen:
        seen.add(path)
        print(path)
P
}

# On stderr it counts what it does not show.
sources | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" \
    "${checks[@]}" 2> >(grep -v ' warnings\? generated\.$' >&2)
