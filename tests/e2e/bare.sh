#!/usr/bin/env bash
# bare.sh - a stranger's first hour: the root of a bare Debian 12, in which what
# is committed of this tree is cloned, and runs the demo; the tests and the
# bench if asked for. Nothing stays behind but what was downloaded.
#
#   bare.sh [--test] [--bench]
#
# Needs root, and this machine to be a Debian 12: its sources of packages,
# proxies and certificates are the root's.
# Environment: ASSAY_CACHE keeps what was downloaded; TMPDIR (/var/tmp) has room
# for the root, 3 GB, 12 GB with the tests.
set -euo pipefail
cd "$(dirname "$0")/../.."

# wrong WORDS...: what is wrong with the arguments, and how they are.
wrong() {
    echo "bare: $*" >&2
    sed -n '6,/^set /s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

verbs=()
for argument in "$@"; do
    case $argument in
    --test | --bench) verbs+=("${argument#--}") ;;
    *) wrong "no such option: $argument" ;;
    esac
done
if [ "$(id -u)" -ne 0 ]; then
    echo "bare: only root can make a root" >&2
    exit 5
fi
if ! grep -qx VERSION_CODENAME=bookworm /etc/os-release; then
    echo "bare: the sources of this machine are not those of a Debian 12" >&2
    exit 5
fi

downloads=$ASSAY_CACHE/bare
mkdir -p "$downloads"
exec 9>"$downloads/lock"
if ! flock -n 9; then
    echo "== waiting for another bare root" >&2
    flock 9
fi
top=$(mktemp -d "${TMPDIR:-/var/tmp}/assay-bare-XXXXXX")
. tests/e2e/daemons.sh
# Its mounts and processes end with its first process.
attend unshare --mount --pid --fork --kill-child --uts --ipc \
    tests/e2e/bare_root.sh "$top" "$downloads" "${verbs[@]}"
