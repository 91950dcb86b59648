#!/usr/bin/env bash
# check.sh - the tree's rules that a program can hold (docs/style.md). Prints
# each offence; exits 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/../.."
bad=0

offence() {
    printf '%s\n' "$1" >&2
    bad=1
}

mapfile -t sources < <(git ls-files '*.c' '*.h' '*.cu')

# Layout is what clang-format makes of it.
clang-format --dry-run -Werror "${sources[@]}" || bad=1

# A file is one noun: at most 600 lines, a comment first, one licence line.
for f in "${sources[@]}"; do
    lines=$(wc -l <"$f")
    [ "$lines" -le 600 ] || offence "$f: $lines lines (at most 600)"
    [ "$(head -c 2 "$f")" = '/*' ] || offence "$f: says not what it is"
    [ "$(grep -c 'SPDX-License-Identifier: Apache-2.0' "$f")" = 1 ] ||
        offence "$f: not one SPDX line"
done

# Functions fit on a screen, at most five parameters: from the first column's
# opening to its closing brace.
awk 'FNR == 1 { start = 0 }
/^\{/ { start = FNR }
/^\}/ { if (start && FNR - start > 60) {
            printf "%s:%d: %d lines (at most 60)\n", FILENAME, start,
                FNR - start; bad = 1 } start = 0 }
END { exit bad }' "${sources[@]}" >&2 || bad=1

# Arrows go one way.
offences=$(git grep -nE '#include "(store|tap|sampler|recompute|web)/' \
    -- config; git grep -nE '#include "(tap|sampler|recompute|web)/' -- store
    for room in tap sampler recompute web; do
        git grep -nE '#include "(tap|sampler|recompute|web)/' -- "$room" |
            grep -v "#include \"$room/"
    done)
[ -z "$offences" ] || offence "$offences"

# Nothing half done, no path of somebody's machine.
offences=$(git grep -nE '\b(TODO|FIXME|XXX)\b|#if 0' -- '*.c' '*.h' '*.py' \
    '*.sh' run ':!tests/style/check.sh')
[ -z "$offences" ] || offence "$offences"

# Every header compiles alone: public ones by their room's path, private ones
# with their room's directory, and those of tests with the room they test.
for f in $(git ls-files '*.h'); do
    room=${f#tests/}
    room=${room%%/*}
    [ "$room" != engines ] || room=recompute
    gcc -std=c11 -D_GNU_SOURCE -fsyntax-only -Iconfig/include \
        -Istore/include -Itap/include -Isampler/include -Irecompute/include \
        -Iweb/include -I"$(dirname "$f")" -I"$room" -Itests/fuzz -x c "$f" ||
        offence "$f: does not compile alone"
done

# A forbidden include does not compile: each room sees only what it may.
tests/style/arrows.sh || bad=1

# The tools that read the tree as a whole say what they should.
(cd tests/style && python3 -m unittest -q) || bad=1

exit $bad
