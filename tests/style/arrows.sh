#!/usr/bin/env bash
# arrows.sh BUILD - proves by compiling that a room cannot include a room it
# must not see: takes the compiler's own command for one file of each room from
# BUILD's data base and feeds it a forbidden include.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$1
bad=0

# compiles ROOM HEADER: with the flags of the room's first own file.
compiles() {
    python3 - "$build" "$1" "$2" <<'P'
import json, os, shlex, subprocess, sys
build, room, header = sys.argv[1:]
for entry in json.load(open(f"{build}/compile_commands.json")):
    if f"{room}/libassay_{room}.a.p/" in entry["output"]:
        words = shlex.split(entry["command"])
        flags = [w for w in words if w.startswith(("-I", "-D", "-std"))]
        run = subprocess.run(
            ["cc", *flags, "-fsyntax-only", "-x", "c", "-"],
            cwd=entry["directory"], text=True, capture_output=True,
            input=f'#include "{header}"\nint x;\n', check=False)
        sys.exit(0 if run.returncode == 0 else 1)
sys.exit(2)
P
}

header_of() {
    git ls-files "$1/include/$1/*.h" | head -1 | sed 's,^[^/]*/include/,,'
}

check() { # ROOM may|must-not OTHER
    local header rc
    header=$(header_of "$3")
    [ -n "$header" ] || return 0
    compiles "$1" "$header"
    rc=$?
    if [ "$2 $rc" != "may 0" ] && [ "$2 $rc" != "must-not 1" ]; then
        echo "arrows: $1 $2 include $header (compiler said $rc)" >&2
        bad=1
    fi
}

check config must-not store
check store may config
for room in tap sampler recompute web; do
    check config must-not $room
    check store must-not $room
    check $room may store
    for other in tap sampler recompute web; do
        [ $room = $other ] || check $room must-not $other
    done
done
exit $bad
