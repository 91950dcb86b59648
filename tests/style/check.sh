#!/usr/bin/env bash
# check.sh BUILD - the tree's rules that a program can hold (docs/style.md), of
# the tree and a BUILD of it that is up to date. Prints each offence; exits 1 if
# there is any.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${1:?"check.sh BUILD"}
bad=0

# holds COMMAND...: it has nothing to say.
holds() {
    "$@" >&2 || bad=1
}

# Layout is what clang-format makes of it.
layout() {
    clang-format --dry-run -Werror "${sources[@]}"
}

# Nothing is half done.
finished() {
    ! git grep -nE '\b(TODO|FIXME|XXX)\b|#if 0' -- '*.c' '*.h' '*.inc' '*.cu' \
        '*.py' '*.sh' run ':!tests/style/check.sh'
}

# The tools say what they should, of trees made up for it.
tools() {
    (cd tests/style && python3 -m unittest -q)
}

mapfile -t sources < <(git ls-files '*.c' '*.h' '*.inc' '*.cu')
holds layout
holds finished
holds tests/style/source.py "${sources[@]}"
holds tests/style/rings.py
holds tests/style/shape.py
holds tests/style/alone.py "$build"
holds tests/style/arrows.sh "$build"
holds tests/style/names.py
holds tests/style/tidy.sh "$build"
holds tools
exit $bad
