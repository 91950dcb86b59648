#!/usr/bin/env bash
# test_markup.sh - only html.c writes markup: no string of another source of
# web/ holds a tag. Argument: the folder web/.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$1"
mapfile -t sources < <(find . -name '*.[ch]' ! -path ./html/html.c)
[ "${#sources[@]}" -gt 30 ]
if grep -nE '"[^"]*</?[a-zA-Z][^"]*"' "${sources[@]}" |
    grep -vE '#include|:[0-9]+: \*|/\*'; then
    echo 'markup outside html.c' >&2
    exit 1
fi
