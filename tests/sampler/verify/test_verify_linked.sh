#!/bin/sh
# test_verify_linked.sh - the auditor's tool has no database and no socket in
# it: assay-verify defines and needs no symbol of SQLite, and is linked to none
# of the libraries that only daemons need.
# SPDX-License-Identifier: Apache-2.0
set -eu
verify=$1
if nm "$verify" | grep -i 'sqlite'; then
    echo "a symbol of SQLite is in $verify" >&2
    exit 1
fi
if nm -D --undefined-only "$verify" | grep -wE 'socket|connect|bind'; then
    echo "$verify can open a socket" >&2
    exit 1
fi
nm "$verify" | grep -qw verify_bundle # nm does see its symbols
if readelf -d "$verify" | grep NEEDED | grep -iE 'sqlite|curl|pcap|config'; then
    echo "$verify needs a library it must not have" >&2
    exit 1
fi
