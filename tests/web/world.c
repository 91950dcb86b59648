/*
 * world.c - the records that most tests of the page look at: fixture.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

enum { REQUESTS = 40 };

static struct unit_name exchange(struct fixture *f, int i, const char *model)
{
    char id[32], time[32], tokens[16];

    (void)snprintf(id, sizeof id, "chatcmpl-%d", i);
    (void)snprintf(time, sizeof time, "17959536%02d000000000", i);
    (void)snprintf(tokens, sizeof tokens, "%d", 20 + i);
    return ADD(f, "exchange", "tap", "tap0", "source", "live:eth0", "client",
               "10.0.0.7:40100", "server", "10.0.0.2:8000", "req_first_ns",
               time, "req_last_ns", time, "resp_first_ns", time, "resp_last_ns",
               time, "method", "POST", "target", "/v1/chat/completions",
               "status", "200", "api", "openai.chat", "model", model, "api_id",
               id, "streamed", "1", "events", "31", "tokens_in", "9",
               "tokens_out", tokens, "tokens_from", "usage", "complete",
               i == 7 ? "0" : "1", "cause", i == 7 ? "gap" : "", "gap_bytes",
               i == 7 ? "1448" : "0");
}

/* Two passes: the prompt with token 0, then one token each. */
static void steps(struct fixture *f, int first, int n)
{
    char text[8][256], step[16];
    const char *pairs[40];

    for (int pass = 0; pass < n; pass++) {
        size_t at = 0;

        (void)snprintf(step, sizeof step, "%d", 100 + pass);
        pairs[at++] = "engine";
        pairs[at++] = "e0";
        pairs[at++] = "step";
        pairs[at++] = step;
        pairs[at++] = "step_ns";
        pairs[at++] = "1795953605123456789";
        pairs[at++] = "padded";
        pairs[at++] = "8";
        pairs[at++] = "parts";
        pairs[at++] = "1";
        for (int i = 0; i < 3; i++) {
            (void)snprintf(text[i], sizeof text[i], "chatcmpl-%d,0,%d,%d,0,%d,",
                           first + i, pass == 0 ? 0 : 8 + pass,
                           pass == 0 ? 9 : 1, pass == 0 ? 9 : 0);
            pairs[at++] = "member";
            pairs[at++] = text[i];
        }
        pairs[at] = NULL;
        fixture_add(f, "batch_step", pairs);
    }
}

static void account(struct fixture *f)
{
    ADD(f, "traffic", "tap", "tap0", "source", "live:eth0", "from_ns",
        "1795953600000000000", "to_ns", "1795953660000000000", "frames", "900",
        "payload_bytes", "48211", "attributed_bytes", "47000",
        "retransmitted_bytes", "211", "unparsed_bytes", "1000", "gap_bytes",
        "1448", "exchanges", "40");
    ADD(f, "loss", "tap", "tap0", "cause", "gap", "object", "10.0.0.7:40100",
        "count", "1", "bytes", "1448", "from_ns", "1795953607000000000",
        "to_ns", "1795953607000000000");
    ADD(f, "loss", "tap", "tap0", "cause", "feed_gap", "object", "e0", "count",
        "2", "from_ns", "1795953607000000000", "to_ns", "1795953608000000000");
    ADD(f, "unparsed", "tap", "tap0", "cause", "not_http", "client",
        "10.0.0.9:50000", "server", "10.0.0.2:9100", "count", "3", "bytes",
        "1000", "from_ns", "1795953601000000000", "to_ns",
        "1795953602000000000");
}

static void close_epoch(struct world *w, const char *manifest)
{
    struct fixture *f = &w->f;
    char drawn[8][128];
    const struct unit_name *units[] = {
        &w->match,    &w->token,    &w->logprob,     &w->length,
        &w->envelope, &w->unstable, &w->uncheckable, &w->waiting};

    ADD(f, "finding", "epoch", "1", "class", "no_metadata", "object",
        w->undrawn.hex, "request", "chatcmpl-20", "expected", "0", "seen", "40",
        "detail", "no batch element names it");
    ADD(f, "finding", "epoch", "1", "class", "orphan_metadata", "engine", "e0",
        "step", "101", "request", "chatcmpl-ghost", "expected", "12", "seen",
        "0");
    ADD(f, "frame_close", "epoch", "1", "reason", "command", "first", "1",
        "end", "60", "n", "40", "frame_root", manifest, "policy", manifest,
        "seen", "40", "incomplete", "1", "unparsed", "3", "loss", "3",
        "findings", "2", "stratum", "0,llama,40,8,1600");
    fixture_seal(f);
    ADD(f, "reveal", "epoch", "1", "party", "verifier", "value", manifest);
    ADD(f, "seed", "epoch", "1", "checkpoint_size", "60", "checkpoint_root",
        manifest, "text", "assay-seed/v1\nepoch 1\n", "seed", manifest);
    for (int i = 0; i < 8; i++)
        (void)snprintf(drawn[i], sizeof drawn[i], "%d,0,%s", 3 * i,
                       units[i]->hex);
    ADD(f, "draw", "epoch", "1", "parts", "1", "drawn", drawn[0], "drawn",
        drawn[1], "drawn", drawn[2], "drawn", drawn[3], "drawn", drawn[4],
        "drawn", drawn[5], "drawn", drawn[6], "drawn", drawn[7]);
}

#define COMMON(unit)                                                        \
    "epoch", "1", "object", (unit).hex, "route", "invariant", "level", "-", \
        "runs", "2", "choices", "1", "manifest", manifest

static void judge(struct world *w, const char *manifest)
{
    struct fixture *f = &w->f;

    ADD(f, "verdict", COMMON(w->match), "verdict", "MATCH", "class", "-",
        "tokens", "21", "logprobs", "21", "position", "4294967295");
    w->token_verdict =
        ADD(f, "verdict", COMMON(w->token), "verdict", "MISMATCH", "class",
            "token", "tokens", "22", "tokens_differ", "3", "logprobs", "22",
            "logprobs_differ", "17", "choice", "0", "position", "5",
            "claimed_token", " cat", "recomputed_token", " car", "claimed_bits",
            "bf8520e9", "recomputed_bits", "bf8507c8", "evidence_bits", "14");
    ADD(f, "verdict", COMMON(w->logprob), "verdict", "MISMATCH", "class",
        "logprob", "tokens", "23", "logprobs", "23", "logprobs_differ", "20",
        "position", "0", "claimed_token", "id 17", "recomputed_token", "id 17",
        "claimed_bits", "be8458f2", "recomputed_bits", "be8458f8");
    ADD(f, "verdict", COMMON(w->length), "verdict", "MISMATCH", "class",
        "length", "tokens", "24", "length_differ", "1", "position", "24",
        "recomputed_token", "id 2");
    ADD(f, "verdict", COMMON(w->envelope), "verdict", "MISMATCH", "class",
        "envelope", "tokens", "25", "envelope_differ", "1", "envelope",
        "usage.completion_tokens", "position", "4294967295");
    ADD(f, "verdict", COMMON(w->unstable), "verdict", "UNSTABLE", "class", "-",
        "runs_differ", "1", "position", "4294967295");
    ADD(f, "verdict", COMMON(w->uncheckable), "verdict", "UNCHECKABLE", "class",
        "-", "reason", "no_metadata", "position", "4294967295");
    ADD(f, "job", "epoch", "1", "object", w->token.hex, "mode", "blind");
    ADD(f, "job", "epoch", "1", "object", w->uncheckable.hex, "mode", "none");
    ADD(f, "certificate", "epoch", "1", "from_ns", "1795953600000000000",
        "to_ns", "1795953639000000000", "seen", "40", "frame", "40",
        "incomplete", "1", "unparsed", "3", "loss", "3", "findings", "2",
        "drawn", "8", "match", "1", "mismatch", "4", "unstable", "1",
        "uncheckable", "1", "unanswered", "1", "route", "invariant",
        "confidence_ppm", "990000", "bound_ppm", "987500", "bound_units", "39",
        "stratum", "0,llama,40,8,7,39", "uncovered", "unparsed records,3");
}

void world_open(struct world *w, const char *dir)
{
    static const char manifest[] =
        "9f02c1aa11223344556677889900aabbccddeeff00112233445566778899aabb";
    struct unit_name *named[REQUESTS] = {
        [1] = &w->match,       [2] = &w->token,    [3] = &w->logprob,
        [4] = &w->length,      [5] = &w->envelope, [6] = &w->unstable,
        [8] = &w->uncheckable, [9] = &w->waiting,  [20] = &w->undrawn};

    memset(w, 0, sizeof *w);
    fixture_open(&w->f, dir);
    fixture_seal(&w->f);
    ADD(&w->f, "manifest", "model", "llama", "manifest", manifest, "weights",
        manifest, "engine", "prover 1", "numerics", "fixed", "recipe",
        "fixed-cpu");
    for (int i = 0; i < REQUESTS; i++) {
        struct unit_name name =
            exchange(&w->f, i, i % 4 == 3 ? "smol" : "llama");

        if (named[i] != NULL)
            *named[i] = name;
    }
    steps(&w->f, 1, 8);
    account(&w->f);
    close_epoch(w, manifest);
    judge(w, manifest);
    for (int i = 0; i < 3; i++)
        (void)exchange(&w->f, 50 + i, "llama");
    fixture_seal(&w->f);
    fixture_commit(&w->f);
}

void world_close(struct world *w)
{
    fixture_close(&w->f);
}
