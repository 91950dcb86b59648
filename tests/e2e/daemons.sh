# daemons.sh - daemons of a shell script, for those that source it: started in
# the directory $top, waited for, ended in turn when the script ends.
# Before it, $top must be set.
pids=()
declare -A pid_of

# The last first: each still finds the store up for its last records.
finish() {
    local i
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    rm -rf "$top"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() {
    echo "demo: $*" >&2
    tail -n 5 "$top"/*.log >&2 2>/dev/null || true
    exit 4
}

# start NAME COMMAND...: a daemon, its talk in NAME.log.
start() {
    local name=$1
    shift
    "$@" >"$top/$name.out" 2>"$top/$name.log" &
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

