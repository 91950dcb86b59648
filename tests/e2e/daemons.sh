# shellcheck shell=bash disable=SC2154,SC2034
# daemons.sh - daemons of a shell script, for those that source it: started in
# the directory $top, waited for, ended in turn when the script ends, be it by
# a signal. Before it, $top must be set.
pids=()
declare -A pid_of
attended=

# In a process group of its own: Ctrl-C reaches the script alone, which ends
# its daemons in turn; and with a daemon ends what it started.
apart() {
    set -m
    "$@" </dev/null &
    set +m
}

# end PID: and what it started, by force where five seconds do not do.
end() {
    local n
    kill "$1" 2>/dev/null || true
    for ((n = 0; n < 50; n++)); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL -- "-$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# The last first: each still finds the store up for its last records.
finish() {
    local i
    trap '' INT TERM
    if [ -n "$attended" ]; then
        kill -- "-$attended" 2>/dev/null || true
        end "$attended"
    fi
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        end "${pids[i]}"
    done
    rm -rf "$top"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    echo "demo: $*" >&2
    tail -n 5 "$top"/*.log >&2 2>/dev/null || true
    exit 4
}

# attend COMMAND...: what takes long and is no daemon: a signal ends it at
# once, where the shell would wait for it first.
attend() {
    local rc=0
    apart "$@"
    attended=$!
    wait "$attended" || rc=$?
    attended=
    return $rc
}

# start NAME COMMAND...: a daemon, its talk in NAME.log.
start() {
    local name=$1
    shift
    apart "$@" >"$top/$name.out" 2>"$top/$name.log"
    pids+=($!)
    pid_of[$name]=$!
}

# stop NAME: ends a daemon and waits until it has.
stop() {
    local pid=${pid_of[$1]} i
    kill "$pid"
    wait "$pid" || true
    for i in "${!pids[@]}"; do
        [ "${pids[i]}" != "$pid" ] || unset "pids[$i]"
    done
    pids=("${pids[@]}")
}

# await WHAT NAME COMMAND...: until the command succeeds; the daemon NAME is to
# bring it about. The limit is for what hangs, not for what is slow.
await() {
    local what=$1 pid=${pid_of[$2]} end=$((SECONDS + 600))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what did not come"
        kill -0 "$pid" 2>/dev/null || fail "$what did not come: it ended"
        sleep 0.1
    done
}

# Free for our daemons as long as this runs.
hold_ports() {
    start ports python3 tests/held_port.py 4
    await "a port" ports eval "[ \"\$(wc -l <'$top/ports.out')\" -eq 4 ]"
    { read -r port; read -r feed_port; read -r web_port; read -r engine_port; } \
        <"$top/ports.out"
}

assay() {
    "$build/config/assay" -c "$conf" "$@"
}
