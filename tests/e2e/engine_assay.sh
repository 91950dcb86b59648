# shellcheck shell=bash disable=SC2154
# engine_assay.sh - the demo's engine is our own (tests/prover), which cheats by
# switch. For demo.sh, which sources it.

engine_model() {
    echo "$root/tests/prover/stories260k"
}

engine_prepare() {
    : # it is built with the rest
}

# On $port, its feed to $feed_port.
engine_start() {
    local cheating=()
    [ "$cheat" = none ] || cheating=(--cheat "$cheat" --cheat-request
        $((requests / 2)) --cheat-log "$top/cheated")
    start engine "$build/tests/prover/assay-prover" --model "$model" \
        --name stories --engine demo --port "$port" \
        --feed "127.0.0.1:$feed_port" "${cheating[@]}"
    await "the engine" engine grep -q listening "$top/engine.out"
}

# What the planted cheat must show as, and nothing besides: mismatches, their
# class, class of finding, "-" for none.
engine_expected() {
    case $cheat in
    none) echo "0 - -" ;;
    other-weights) echo "1 logprob -" ;;
    altered-token | temperature) echo "1 token -" ;;
    hidden-member) echo "0 - orphan_metadata" ;;
    unreported) echo "0 - no_metadata" ;;
    cached-answer) echo "1 token no_metadata" ;;
    esac
}
