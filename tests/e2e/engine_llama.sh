# shellcheck shell=bash disable=SC2154
# engine_llama.sh - the demo's engine is the real llama-server with its default
# flags, its debug log read as batch feed. It does not cheat: its operator does,
# with a front end that alters one token. For demo.sh, which sources it.

engine_model() {
    echo "$top/declared"
}

# Builds the server the first time, and writes down what is declared.
engine_prepare() {
    python3 tests/e2e/llama_engine.py prepare "$model" >"$top/server"
}

# On $port, its feed to $feed_port.
engine_start() {
    local own=$engine_port
    [ "$cheat" != none ] || own=$port
    start engine python3 tap/plugins/llama_log.py \
        --to "http://127.0.0.1:$feed_port" --engine demo -- \
        "$(<"$top/server")" -m "$model/model.gguf" -a stories \
        --host 127.0.0.1 --port "$own"
    await "the engine" engine grep -q "listening on http" "$top/engine.log"
    [ "$cheat" != none ] || return 0
    start front python3 tests/e2e/llama_engine.py front "$port" "$own" \
        $((requests / 4 + 1)) "$top/cheated"
    await "the front end" front grep -q listening "$top/front.out"
}

# As in engine_assay.sh.
engine_expected() {
    case $cheat in
    none) echo "0 - -" ;;
    altered-token) echo "1 token -" ;;
    esac
}
