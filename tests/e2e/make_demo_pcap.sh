#!/usr/bin/env bash
# make_demo_pcap.sh FILE - records the capture that `demo.sh --play` plays: the
# demo's engine answering 40 requests, the 20th with an altered token, and its
# batch feed, on loopback. Needs root. Environment: BUILD, the build directory.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "$1")
copy=$(mktemp tests/e2e/demo-XXXXXX.sh)
trap 'rm -f "$copy"' EXIT
# The demo itself, with a recorder started before its requests.
# shellcheck disable=SC2016 # the copy is to expand these
sed 's,^    attend send_requests$,    start recorder tcpdump -i lo -s 65700 \\\
        -B 65536 -U -w "$CAPTURE" "tcp port $port or tcp port $feed_port"\
    sleep 2; attend send_requests; sleep 2,' tests/e2e/demo.sh >"$copy"
chmod +x "$copy"
CAPTURE=$out "$copy" --once --requests 40 >&2
