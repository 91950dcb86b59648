#!/usr/bin/env bash
# demo.sh - the whole path on this machine: store, tap, engine with one planted
# cheat, workers, page. Sends requests, seals the epoch, draws, runs the drawn
# requests again, says what it found in ten lines, and keeps serving.
#
#   demo.sh [--once] [--requests N] [--cheat KIND] [--play] [--users]
#           [--engine assay|llama.cpp] [--check]
#
# --once    ends when all is said; exit code 0 if exactly the cheat was found
# --engine  our own, or the real llama-server, which is built the first time
# --cheat   other-weights, altered-token, none; our own engine's as well:
#           temperature, hidden-member, unreported, cached-answer
# --play    no root, no live tap: the tap reads a recorded capture
# --users   each daemon as a user of its own, none of them root
# --check   looks at the arguments and does nothing
# Environment: BUILD, the build directory (build).
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
build=${BUILD:-$root/build}
once=no
requests=120
cheat=altered-token
engine=assay
play=no
users=no
check=no

# wrong WORDS...: what is wrong with the arguments, and how they are.
wrong() {
    echo "demo: $*" >&2
    sed -n '5,/^set /s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --requests | --cheat | --engine)
        [ $# -ge 2 ] || wrong "$1 wants a value"
        declare "${1#--}=$2"
        shift
        ;;
    --once | --play | --users | --check) declare "${1#--}=yes" ;;
    *) wrong "no such option: $1" ;;
    esac
    shift
done
[[ $requests =~ ^[1-9][0-9]{0,5}$ ]] ||
    wrong "--requests wants a count, not '$requests'"
case $engine in
assay) . tests/e2e/engine_assay.sh ;;
llama.cpp) . tests/e2e/engine_llama.sh ;;
*) wrong "no such engine: '$engine'" ;;
esac
[ -n "$(engine_expected)" ] ||
    wrong "no such cheat of engine $engine: '$cheat'"
[ $engine = assay ] || [ $play = no ] ||
    wrong "the capture that --play reads is of engine assay"
[ $check = no ] || exit 0
if [ $play = no ] && [ "$(id -u)" -ne 0 ]; then
    echo "demo: capturing needs root; --play does not" >&2
    exit 5
fi

top=$(mktemp -d "${TMPDIR:-/tmp}/assay-demo-XXXXXX")
conf=$top/assay.conf
model=$(engine_model)
. tests/e2e/daemons.sh
# Users that every Debian has. Who reads the index, compare, has the group of
# the store's user.
declare -A user=([store]=nobody [tap]=daemon [sampler]=bin [recompute]=games
    [compare]=sync)

# user_settings ROOM: its lines of the settings.
user_settings() {
    [ $users = no ] && return
    echo "user = \"${user[$1]}\";"
    [ "$1" = store ] || return 0
    for role in tap sampler recompute compare; do
        echo "user_$role = \"${user[$role]}\";"
    done
}

write_settings() {
    local filter="tcp port $port"
    [ $play = no ] || filter=
    [ $users = no ] || chmod 755 "$top"
    cat >"$conf" <<EOF
origin = "demo.assay.example/unit-1";
store: { state_dir = "$top/state"; run_dir = "$top/run";
    $(user_settings store) };
tap: {
    name = "demo"; interface = "lo"; interval_s = 1;
    filter = "$filter"; feed_listen = "127.0.0.1:$feed_port";
    $(user_settings tap)
};
sampler: { feed_required = true; feed_slack_ms = 1000; $(user_settings sampler) };
recompute: { models = [ "$model" ]; recipes = "$root/config/recipes";
    $(user_settings recompute) };
compare: { $(user_settings compare) };
web: { key_file = "$top/web.key"; actor = "demo"; reveal = true; };
EOF
    head -c 32 /dev/urandom >"$top/web.key"
}

start_record() {
    start store "$build/store/assay-store" -c "$conf"
    await "the store" store test -S "$top/run/tap.sock"
    assay model register stories "$model" >/dev/null
    "$build/sampler/assay-sampler" chain new --length 100 "$top/chain" \
        >"$top/head"
    "$build/sampler/assay-sampler" -c "$conf" enrol auditor \
        "$(tail -n 1 "$top/head")" >/dev/null
    cat >"$top/policy" <<EOF
assay-policy/v1
confidence 99%
party auditor
reveal_within 600
answer_within 3600
stratum all any draw all
EOF
    "$build/sampler/assay-sampler" -c "$conf" policy "$top/policy" >/dev/null
    start recompute "$build/recompute/assay-recompute" -c "$conf"
    start compare "$build/recompute/assay-compare" -c "$conf"
}

start_page() {
    mkdir "$top/www"
    sed -e "s,@PORT@,$web_port,; s,@DIR@,$top/www,; s,@CONF@,$conf," \
        -e "s,@CGI@,$build/web/assay.cgi,; s,@STATIC@,$root/web/static," \
        config/lighttpd/demo.conf.in >"$top/lighttpd.conf"
    start page lighttpd -D -f "$top/lighttpd.conf"
    await "the page" page curl -sf "http://127.0.0.1:$web_port/assay/"
}

# First, so that it hears the feed's first message. A connection to its port
# says no more than that it listens.
start_tap() {
    start tap "$build/tap/assay-tap" -c "$conf"
    await "the tap" tap curl -s "http://127.0.0.1:$feed_port/"
}

# One line a request, of every kind: chat and completion, streamed or not,
# greedy or seeded, with and without logprobs.
request_bodies() {
    python3 - "$requests" <<'P'
import json, sys
openings = ["Once upon a time", "Lily and Tom", "The big dog", "One day, a",
            "There was a little", "In the park,", "A small bird", "Mom said"]
for i in range(int(sys.argv[1])):
    text = f"{openings[i % len(openings)]} {'very ' * (i % 5)}"
    body = {"model": "stories", "max_tokens": 16 + i % 17, "seed": i,
            "temperature": (0, 0.8, 1.1)[i % 3], "stream": i % 2 == 1}
    if i % 4 < 2:
        path = "/v1/completions"
        body.update(prompt=text, logprobs=2)
    else:
        path = "/v1/chat/completions"
        body.update(messages=[{"role": "user", "content": text}],
                    logprobs=True, top_logprobs=2)
    print(path + "\t" + json.dumps(body))
P
}

send_requests() {
    export port
    # shellcheck disable=SC2016 # each request's own shell expands these
    request_bodies | tr '\n' '\0' | xargs -0 -P 8 -n 1 bash -c '
        curl -sS -o /dev/null -H "Content-Type: application/json" \
            -d "${1#*	}" "http://127.0.0.1:$port${1%%	*}"' send
}

figure() {
    assay --json status | jq -r ".$1"
}

recorded() {
    [ "$(figure exchanges)" -ge "$1" ]
}

# accounted SECOND: the tap has told what it saw up to then.
accounted() {
    [ "$(query "SELECT max(to_ns) / 1000000000 FROM traffic")" -ge "$1" ]
}

judged() {
    local drawn
    drawn=$(figure drawn)
    [ "$drawn" -gt 0 ] && [ "$(assay --json status | jq '.verdicts_match +
        .verdicts_mismatch + .verdicts_unstable +
        .verdicts_uncheckable')" -ge "$drawn" ]
}

epoch() {
    assay epoch close >"$top/close" 2>&1 || [ $? -eq 75 ] || fail "no close"
    # Known to nobody but the auditor until the frame is signed.
    "$build/sampler/assay-sampler" chain next "$top/chain" >"$top/secret"
    assay epoch reveal auditor "$(tail -n 1 "$top/secret")" >/dev/null
    await "a verdict for each drawn request" compare judged
    assay epoch certify 1 >/dev/null
    assay export 1 "$top/export" >/dev/null
}

query() {
    sqlite3 -readonly "$top/state/index.db" "$1"
}

report() {
    local key
    key=$(query "SELECT log_vkey FROM genesis")
    query "SELECT 'seen         ' || seen || ' requests, ' || incomplete ||
        ' incomplete, ' || unparsed || ' unparsed, ' || loss || ' losses'
        FROM certificate;
        SELECT 'drawn        ' || drawn || ' of ' || frame ||
        ', after the record was signed' FROM certificate;
        SELECT 'reproduced   ' || match || ' to the last bit' FROM certificate;
        SELECT 'mismatched   ' || mismatch FROM certificate;
        SELECT 'unchecked    ' || (unstable + uncheckable + unanswered)
        FROM certificate;
        SELECT 'findings     ' || findings || ' between feed and wire'
        FROM certificate;
        SELECT 'bound        all were drawn: a count, no estimate'
        FROM certificate WHERE drawn = frame;
        SELECT 'bound        with ' || (confidence_ppm / 10000) ||
        ' % confidence at most ' || (bound_ppm / 10000.0) || ' % would fail'
        FROM certificate WHERE drawn < frame"
    query "SELECT 'first        ' || class || ' at position ' || position ||
        ' of ' || x.api_id || ': claimed ' || claimed_token ||
        ', recomputed ' || recomputed_token FROM verdict v JOIN exchange x
        ON x.unit = v.object WHERE v.verdict = 'MISMATCH'
        ORDER BY v.seq LIMIT 1;
        SELECT 'finding      ' || class || ' ' || request FROM finding LIMIT 1"
    if assay verify "$top/export" --key "$key" >"$top/verify" 2>&1; then
        echo "export       verified without database or network"
    else
        echo "export       NOT verified:"
        cat "$top/verify"
    fi
    echo "page         http://127.0.0.1:$web_port/assay/"
}

# Is each daemon the user that it should have become?
as_users() {
    local name is
    for name in store tap recompute compare; do
        is=$(ps -o user= -p "${pid_of[$name]}")
        [ "$is" = "${user[$name]}" ] && continue
        echo "demo: $name is $is" >&2
        return 1
    done
}

as_planted() {
    local seen class finding id
    [ $users = no ] || as_users || return 1
    grep -q "a count and no estimate" "$top/verify" || return 1
    seen=$(query "SELECT seen = drawn AND drawn = match + mismatch AND
        loss = 0 AND unparsed = 0, mismatch FROM certificate" | tr '|' ' ')
    class=$(query "SELECT class FROM verdict WHERE verdict = 'MISMATCH'")
    finding=$(query "SELECT class FROM finding")
    id=$(query "SELECT api_id FROM exchange x JOIN verdict v
        ON v.object = x.unit WHERE verdict = 'MISMATCH'")
    if [ -n "$id" ] && [ $play = no ] && ! grep -q "$id" "$top/cheated"; then
        echo "demo: $id did not cheat" >&2
        return 1
    fi
    [ "$seen ${class:--} ${finding:--}" = "1 $(engine_expected)" ] && return
    echo "demo: found $seen ${class:--} ${finding:--}," \
        "expected 1 $(engine_expected)" >&2
    return 1
}

attend engine_prepare
hold_ports
write_settings
echo "== starting store, workers and page in $top" >&2
start_record
start_page
if [ $play = yes ]; then
    echo "== playing tests/e2e/demo.pcap" >&2
    cheat=altered-token
    assay play tests/e2e/demo.pcap
    await "the record of the capture" store recorded 1
else
    echo "== starting tap and engine, sending $requests requests" >&2
    start_tap
    engine_start
    attend send_requests
    await "the record of each request" tap recorded "$requests"
    stop engine # which sends the rest of its feed first
    await "an account of the time until now" tap accounted \
        "$(($(date +%s) + 2))"
fi
echo "== sealing, drawing, running again" >&2
epoch
report
if [ $once = yes ]; then
    as_planted
    exit
fi
echo "== serving until Ctrl-C" >&2
attend sleep infinity
