#!/usr/bin/env bash
# bench.sh - the figures, each beside a peer or a limit, in one run. Prints
# "key value unit" lines and the ratios that matter. No test depends on it.
# Environment: BUILD, the build directory (build).
set -euo pipefail
if [ $# -gt 0 ]; then
    echo "bench: takes no arguments: $*" >&2
    exit 2
fi
cd "$(dirname "$0")/../.."
root=$PWD
build=${BUILD:-$root/build}
top=$(mktemp -d "${TMPDIR:-/tmp}/assay-bench-XXXXXX")
export ASSAY_RECORDINGS=$build/tests/recordings
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$top"' EXIT
: >"$top/figures"

figure() { # KEY VALUE UNIT
    printf '%-34s %14s %s\n' "$1" "$2" "$3" | tee -a "$top/figures"
}

value() {
    awk -v k="$1" '$1 == k { print $2; exit }' "$top/figures"
}

ratio() { # KEY A B: figure A over figure B
    figure "$1" "$(awk -v a="$(value "$2")" -v b="$(value "$3")" \
        'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }')" times
}

# CPU seconds, user and system, of a command.
cpu_s() {
    TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>"$top/err"; } 2>&1 | awk '{ print $1 + $2 }' || {
        echo "bench: failed: $*" >&2
        cat "$top/err" >&2
        return 4
    }
}

# CPU seconds a running process has used.
process_cpu_s() {
    awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' \
        "/proc/$1/stat"
}

rates() { # NAME CPU-SECONDS
    figure "$1_cpu" "$2" s
    figure "$1_packets" "$(awk -v n="$packets" -v s="$2" \
        'BEGIN { printf "%.0f", n / s }')" packets/CPU-s
    figure "$1_bytes" "$(awk -v n="$bytes" -v s="$2" \
        'BEGIN { printf "%.1f", n / s / 1e6 }')" MB/CPU-s
}

capture_bench() {
    local store tap tcpflow tshark
    echo "# a capture file through to stored exchanges: 2,000 answers of 400"
    echo "# token events of some 240 bytes, one packet an event"
    "$build/tests/tap/make_capture" "$top/big.pcap"
    bytes=$(stat -c %s "$top/big.pcap")
    packets=$(tcpdump -r "$top/big.pcap" --count | awk '{ print $1 }')
    figure capture_packets "$packets" packets
    figure capture_bytes "$bytes" bytes
    cat >"$top/conf" <<EOF
origin = "bench.example/1";
store: { state_dir = "$top/state"; run_dir = "$top/run"; };
EOF
    "$build/store/assay-store" -c "$top/conf" 2>"$top/store.log" &
    pid=$!
    until [ -S "$top/run/tap.sock" ]; do sleep 0.1; done
    tap=$(cpu_s "$build/tap/assay-tap" -c "$top/conf" "$top/big.pcap")
    sleep 1
    store=$(process_cpu_s "$pid")
    figure assay_exchanges "$("$build/config/assay" -c "$top/conf" --json \
        status | jq .exchanges)" exchanges
    kill "$pid"
    wait "$pid" || true
    pid=
    rates tap_alone "$tap"
    rates assay "$(awk -v a="$tap" -v b="$store" 'BEGIN { print a + b }')"
    rm -rf "$top/state"
    mkdir "$top/flows"
    tcpflow=$(cd "$top/flows" && cpu_s tcpflow -a -r "$top/big.pcap")
    rates tcpflow "$tcpflow"
    rm -rf "$top/flows"
    tshark=$(cpu_s tshark -r "$top/big.pcap" -Y http -T fields \
        -e http.request.uri -e http.response.code)
    rates tshark "$tshark"
    ratio assay_to_tcpflow assay_packets tcpflow_packets
    ratio assay_to_tshark assay_packets tshark_packets
}

recompute_bench() {
    local model
    echo "# SmolLM2-135M in numerics fixed, beside OpenBLAS sgemm"
    model=$(python3 tests/recompute/engine/assay/test_transformers.py --model \
        "$ASSAY_RECORDINGS/models" | tail -1)
    for threads in 1 2; do
        "$build/tests/recompute/bench_recompute" -t $threads "$model" |
            sed "s/^/threads_${threads}_/"
    done
}

echo "# $(uname -m), $(nproc) CPUs," \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
capture_bench
echo "# records durably appended"
"$build/tests/store/bench_store" "$build/store/assay-store"
recompute_bench
echo "# answers of a real llama-server run again, beside its own timings"
python3 tests/engines/bench_replay.py "$build" 2>"$top/replay.log" || {
    tail -n 5 "$top/replay.log" >&2
    exit 4
}
echo "# pages over 100,000 exchanges"
"$build/tests/web/bench_page" "$build/web/assay.cgi"
