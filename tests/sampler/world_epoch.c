/*
 * world_epoch.c - the life of an epoch in a world, with the places where a lie
 * can be told.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world_epoch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/chain.h"
#include "store/sha256.h"
#include "store/verdict.h"

/* Replaces the first occurrence of one text in a body by another. */
static void replace(struct record *r, const char *old, const char *new)
{
    char *at = memmem(r->text, r->n, old, strlen(old));
    size_t rest;

    assert(at != NULL);
    rest = r->n - (size_t)(at - r->text) - strlen(old);
    memmove(at + strlen(new), at + strlen(old), rest);
    memcpy(at, new, strlen(new));
    r->n += strlen(new) - strlen(old);
}

static bool cut(unsigned i)
{
    return i % 13 == 12;
}

static void exchange(struct world *w, uint64_t epoch, unsigned i)
{
    static const char *const text_keys[] = {"tap", "source", "client",
                                            "server"};
    static const char *const u64_keys[] = {"stream",        "index",
                                           "req_first_ns",  "req_last_ns",
                                           "resp_first_ns", "resp_last_ns"};
    struct record r;
    char id[32];

    (void)snprintf(id, sizeof id, "cmpl-%" PRIu64 "-%u", epoch, i);
    record_init(&r);
    for (size_t k = 0; k < 4; k++)
        record_text(&r, text_keys[k], span_str("x"));
    for (size_t k = 0; k < 6; k++)
        record_u64(&r, u64_keys[k], i);
    record_text(&r, "method", span_str("POST"));
    record_text(&r, "target", span_str("/v1/completions"));
    record_u64(&r, "status", 200);
    record_text(&r, "api", span_str("openai.completions"));
    record_text(&r, "model", span_str("stories260k"));
    record_text(&r, "api_id", span_str(id));
    record_u64(&r, "streamed", 0);
    record_u64(&r, "events", 0);
    record_u64(&r, "choices", 1);
    record_u64(&r, "tokens_in", 3 + i);
    record_u64(&r, "tokens_out", 16);
    record_text(&r, "tokens_from", span_str("usage"));
    record_u64(&r, "complete", !cut(i));
    record_text(&r, "cause", span_str(cut(i) ? "gap" : ""));
    record_u64(&r, "gap_bytes", cut(i) ? 1448 : 0);
    if (world_lies(w, LIE_RECORD_MALFORMED) && i == 5)
        replace(&r, "streamed 0\n", "streamed no\n");
    world_add(w, "exchange", &r);
}

static void trouble(struct world *w)
{
    struct record r;

    record_init(&r);
    record_text(&r, "tap", span_str("t0"));
    record_text(&r, "cause", span_str("tls"));
    record_text(&r, "client", span_str("a"));
    record_text(&r, "server", span_str("b"));
    record_u64(&r, "stream", 1);
    record_u64(&r, "count", 3);
    record_u64(&r, "bytes", 900);
    record_u64(&r, "from_ns", 1);
    record_u64(&r, "to_ns", 2);
    world_add(w, "unparsed", &r);
    for (int i = 0; i < 2; i++) {
        record_init(&r);
        record_text(&r, "tap", span_str("t0"));
        record_text(&r, "cause", span_str(i == 0 ? "nic" : "feed_gap"));
        record_text(&r, "object", span_str("eth0"));
        record_u64(&r, "count", 7);
        record_u64(&r, "bytes", 100);
        record_u64(&r, "from_ns", 1);
        record_u64(&r, "to_ns", 2);
        world_add(w, "loss", &r);
    }
}

static void batch_step(struct world *w)
{
    struct record r;

    record_init(&r);
    record_text(&r, "tap", span_str("t0"));
    record_text(&r, "engine", span_str("e0"));
    record_text(&r, "feed", span_str("f"));
    record_text(&r, "names", span_str("answers"));
    record_u64(&r, "feed_seq", 0);
    record_u64(&r, "step", 0);
    record_u64(&r, "step_ns", 0);
    record_u64(&r, "padded", 0);
    record_u64(&r, "part", 1);
    record_u64(&r, "parts", 1);
    world_add(w, "batch_step", &r);
}

static void finding(struct world *w, uint64_t epoch)
{
    uint8_t object[32] = {9};
    struct record r;

    record_init(&r);
    record_u64(&r, "epoch", epoch);
    record_text(&r, "class", span_str("no_metadata"));
    record_hex(&r, "object", span_of(object, 32));
    record_text(&r, "engine", span_str(""));
    record_u64(&r, "step", 0);
    record_text(&r, "request", span_str("cmpl-x"));
    record_u64(&r, "expected", 1);
    record_u64(&r, "seen", 0);
    record_text(&r, "detail", span_str(""));
    world_add(w, "finding", &r);
}

static void reveal(struct world *w, uint64_t epoch)
{
    uint8_t value[32];
    struct record r;

    memcpy(value, w->chain[WORLD_PARTY_LENGTH - epoch], 32);
    if (world_lies(w, LIE_REVEAL_NOT_ON_CHAIN))
        value[0] ^= 1;
    if (world_lies(w, LIE_CHAIN_AFTER_CLOSE)) {
        uint8_t head[32];

        memset(value, 5, sizeof value);
        chain_step(value, head);
        world_enrol(w, head, epoch);
    }
    memcpy(w->epoch.seed.text, value, 32); /* until the text is made */
    if (world_lies(w, LIE_REVEAL_MISSING))
        return;
    record_init(&r);
    record_u64(&r, "epoch", epoch);
    record_text(&r, "party", span_str("auditor"));
    record_hex(&r, "value", span_of(value, 32));
    world_add(w, "reveal", &r);
    if (world_lies(w, LIE_REVEAL_TWICE))
        world_add(w, "reveal", &r);
}

/* Frame and counts from the leaves of the range. */
static void survey(struct world *w, uint64_t first, uint64_t end)
{
    struct epoch_close *c = &w->epoch.close;
    bool left_out = world_lies(w, LIE_FRAME_LEFT_OUT);

    for (uint64_t seq = first; seq < end; seq++) {
        struct span leaf = span_of(w->leaves[seq].text, w->leaves[seq].n);
        struct exchange_facts x = {.model = span_str("stories260k"),
                                   .api = span_str("openai.completions")};

        if (!span_eq_str(record_find(leaf, "type"), "exchange"))
            continue;
        if (left_out && w->epoch.frame.n == 4) {
            left_out = false;
            continue;
        }
        world_unit(w, seq, x.unit);
        assert(record_parse_u64(record_find(leaf, "tokens_in"), &x.tokens_in) ==
               PARSE_OK);
        assert(record_parse_u64(record_find(leaf, "tokens_out"),
                                &x.tokens_out) == PARSE_OK);
        x.complete = span_eq_str(record_find(leaf, "complete"), "1");
        assert(epoch_count_exchange(&c->counts, &w->epoch.frame, &w->policy,
                                    &x) == 0);
    }
    c->counts.unparsed = 3;
    c->counts.unparsed_bytes = 900;
    c->counts.loss = 14;
    c->counts.loss_bytes = 200;
    c->counts.feed_gaps = 7;
    c->counts.findings = 1;
}

static void sign(struct world *w, struct merkle_head *ret_head)
{
    world_sign(w);
    world_head(w, ret_head);
}

/* head: of the checkpoint that the seed is to name. */
static void close_epoch(struct world *w, uint64_t epoch,
                        struct merkle_head *head)
{
    struct epoch_close *c = &w->epoch.close;
    struct record r;

    c->epoch = epoch;
    c->first = w->end;
    c->end = w->n;
    if (world_lies(w, LIE_CLOSE_SKIPS_LEAF))
        c->first++;
    finding(w, epoch);
    if (world_lies(w, LIE_POLICY_SWAPPED) || world_lies(w, LIE_POLICY_HASH))
        world_policy(w, WORLD_POLICY "# another\n", false);
    survey(w, c->first, c->end);
    account_frame(c, &w->policy, &w->epoch.frame);
    if (world_lies(w, LIE_CLOSE_COUNT))
        c->counts.incomplete--;
    if (world_lies(w, LIE_CLOSE_SAMPLE_SIZE))
        c->stratum[1].draw--;
    if (world_lies(w, LIE_CLOSE_NO_FEED))
        c->counts.no_feed = 40;
    if (world_lies(w, LIE_POLICY_HASH))
        sha256(span_str(WORLD_POLICY "# another\n"), c->policy);
    strcpy(c->reason, "command");
    assert(account_write_close(c, &r));
    if (world_lies(w, LIE_CHECKPOINT_LACKS_CLOSE))
        sign(w, head); /* of every leaf but the close */
    w->epoch.close_seq = world_add(w, "frame_close", &r);
    if (world_lies(w, LIE_CLOSE_TWICE))
        world_add(w, "frame_close", &r);
    w->end = c->end;
}

static void prove(struct world *w, uint64_t epoch)
{
    struct epoch_seed *s = &w->epoch.seed;
    uint8_t previous[32];
    char alpha[SEED_ALPHA];
    size_t n;

    memcpy(previous, w->previous_seed, 32);
    if (world_lies(w, LIE_VRF_OTHER_SEED))
        memset(previous, 0, 32);
    n = seed_alpha(WORLD_ORIGIN, epoch, previous, alpha);
    assert(vrf_prove(w->vrf_secret, span_of(alpha, n), s->vrf_pi) == 0);
    assert(vrf_output(span_of(s->vrf_pi, VRF_PROOF), s->vrf_beta));
    if (world_lies(w, LIE_VRF_PROOF))
        s->vrf_pi[VRF_PROOF - 1] ^= 1;
    if (world_lies(w, LIE_VRF_OUTPUT))
        s->vrf_beta[0] ^= 1;
}

static void seed(struct world *w, uint64_t epoch,
                 const struct merkle_head *signed_head)
{
    struct epoch_seed *s = &w->epoch.seed;
    struct seed_input in = {.origin = WORLD_ORIGIN,
                            .epoch = epoch,
                            .units = w->epoch.frame.n,
                            .n_sources = 1};
    struct record r;

    memcpy(in.source[0].value, s->text, 32);
    strcpy(in.source[0].name, "reveal auditor");
    s->epoch = epoch;
    s->checkpoint_size = signed_head->size;
    memcpy(s->checkpoint_root, signed_head->root, 32);
    prove(w, epoch);
    memcpy(in.frame_root, w->epoch.close.frame_root, 32);
    memcpy(in.policy, w->epoch.close.policy, 32);
    memcpy(in.vrf_beta, s->vrf_beta, 32);
    if (world_lies(w, LIE_SEED_TEXT))
        in.units--;
    assert(seed_make(&in, s->text, s->seed) != 0);
    if (world_lies(w, LIE_SEED_HASH))
        s->seed[0] ^= 1;
    if (world_lies(w, LIE_SEED_OTHER_ROOT))
        s->checkpoint_root[0] ^= 1;
    assert(account_write_seed(s, &r));
    world_add(w, "seed", &r);
    if (world_lies(w, LIE_SEED_TWICE))
        world_add(w, "seed", &r);
    memcpy(w->previous_seed, s->seed, 32);
}

/* An index of the frame that is not drawn. */
static uint64_t undrawn(const struct world *w)
{
    const struct draw *d = &w->epoch.draw;
    uint64_t i = 0;

    for (size_t k = 0; k < d->n && d->units[k].index == i; k++)
        i++;
    return i;
}

/* A liar's change of the list of drawn units, in d. */
static void draw_lie(struct world *w, struct draw *d)
{
    struct drawn other = {.index = undrawn(w)};

    if (world_lies(w, LIE_DRAW_REPLACED))
        d->units[3] = other;
    if (world_lies(w, LIE_DRAW_LEFT_OUT))
        memmove(&d->units[3], &d->units[4], (--d->n - 3) * sizeof *d->units);
    if (world_lies(w, LIE_DRAW_EXTRA))
        d->units[d->n++] = other;
}

static void add_draw(struct world *w, uint64_t epoch)
{
    struct draw *d = &w->epoch.draw, told = {NULL, d->n};
    struct record r;

    told.units = calloc(d->n + 1, sizeof *told.units);
    assert(told.units != NULL);
    memcpy(told.units, d->units, d->n * sizeof *told.units);
    draw_lie(w, &told);
    assert(account_draw_parts(&told) == 1);
    assert(account_write_draw(epoch, &w->epoch.frame, &told, 1, &r));
    world_add(w, "draw", &r);
    if (world_lies(w, LIE_DRAW_TWICE))
        world_add(w, "draw", &r);
    free(told.units);
}

static void draw(struct world *w)
{
    uint64_t wanted[POLICY_STRATA];

    for (size_t h = 0; h < w->epoch.close.n_strata; h++)
        wanted[h] = w->epoch.close.stratum[h].draw;
    assert(draw_frame(&w->epoch.frame, w->epoch.seed.seed, wanted,
                      w->epoch.close.n_strata, &w->epoch.draw) == 0);
}

struct checked {
    uint64_t epoch;
    uint8_t unit[32], nonce[16], digest[32];
};

static void job(struct world *w, const struct checked *c)
{
    uint8_t hash[32] = {1};
    struct record r;

    record_init(&r);
    record_u64(&r, "epoch", c->epoch);
    record_hex(&r, "object", span_of(c->unit, 32));
    record_text(&r, "mode", span_str("blind"));
    record_hex(&r, "nonce", span_of(c->nonce, 16));
    record_hex(&r, "packet_sha256", span_of(hash, 32));
    record_hex(&r, "claim_sha256", span_of(hash, 32));
    record_hex(&r, "manifest", span_of(hash, 32));
    world_add(w, "job", &r);
}

static void result(struct world *w, const struct checked *c)
{
    uint8_t hash[32] = {1}, nonce[16];
    struct record r;

    memcpy(nonce, c->nonce, sizeof nonce);
    nonce[0] ^= world_lies(w, LIE_RESULT_OTHER_NONCE);
    record_init(&r);
    record_u64(&r, "epoch", c->epoch);
    record_hex(&r, "object", span_of(c->unit, 32));
    record_hex(&r, "nonce", span_of(nonce, 16));
    record_u64(&r, "run", 1);
    record_text(&r, "worker", span_str("w0"));
    record_text(&r, "status", span_str("ok"));
    record_text(&r, "reason", span_str(""));
    record_hex(&r, "manifest", span_of(hash, 32));
    record_hex(&r, "digest", span_of(c->digest, 32));
    record_u64(&r, "tokens", 16);
    record_u64(&r, "elapsed_ns", 5);
    world_add(w, "result", &r);
}

static void verdict(struct world *w, const struct checked *c, bool bad)
{
    static const char *const counts[] = {"runs_differ", "choices", "tokens"};
    bool searched = c->epoch == 2;
    uint8_t hash[32] = {1};
    struct record r;

    record_init(&r);
    record_u64(&r, "epoch", c->epoch);
    record_hex(&r, "object", span_of(c->unit, 32));
    record_text(&r, "verdict", span_str(bad ? "MISMATCH" : "MATCH"));
    record_text(&r, "class", span_str(bad ? "token" : ""));
    record_text(&r, "reason", span_str(""));
    record_text(&r, "route", span_str("invariant"));
    record_text(&r, "level", span_str(searched ? "search" : ""));
    record_hex(&r, "manifest", span_of(hash, 32));
    record_hex(&r, "result_digest", span_of(c->digest, 32));
    record_u64(&r, "runs", 1);
    for (size_t i = 0; i < 3; i++)
        record_u64(&r, counts[i], i == 0 ? 0 : i);
    record_u64(&r, "tokens_differ", bad ? 1 : 0);
    record_u64(&r, "logprobs", 16);
    record_u64(&r, "logprobs_differ", 0);
    record_u64(&r, "length_differ", 0);
    record_u64(&r, "envelope_differ", 0);
    record_text(&r, "envelope", span_str(""));
    record_u64(&r, "choice", bad ? 0 : NO_POSITION);
    record_u64(&r, "position", bad ? 7 : NO_POSITION);
    record_text(&r, "claimed_token", span_str(""));
    record_text(&r, "recomputed_token", span_str(""));
    record_text(&r, "claimed_bits", span_str(""));
    record_text(&r, "recomputed_bits", span_str(""));
    record_u64(&r, "evidence_bits", searched ? 40 + c->unit[0] % 2 : 0);
    record_u64(&r, "forward_runs", 0);
    record_text(&r, "detail", span_str(""));
    if (world_lies(w, LIE_VERDICT_TO_MATCH) && bad)
        replace(&r, "verdict MISMATCH\nclass token", "verdict MATCH\nclass -");
    if (world_lies(w, LIE_VERDICT_CLASS) && bad)
        replace(&r, "class token", "class envelope");
    world_add(w, "verdict", &r);
}

static struct checked checked_of(const struct world *w, uint64_t epoch,
                                 uint64_t index)
{
    struct checked c = {.epoch = epoch};

    memcpy(c.unit, w->epoch.frame.units[index].unit, 32);
    memcpy(c.nonce, c.unit, 16);
    sha256(span_of(c.unit, 32), c.digest);
    return c;
}

/* The k-th whole drawn unit: the first is a mismatch, the last is never
 * answered, and the third is the one that lies are told about. */
static void answer(struct world *w, const struct checked *c, size_t k,
                   bool last)
{
    bool early = world_lies(w, LIE_RESULT_BEFORE_JOB) && k == 2;

    if (early)
        result(w, c);
    if (!world_lies(w, LIE_JOB_MISSING) || k != 2)
        job(w, c);
    if (last)
        return;
    if (!early && (!world_lies(w, LIE_RESULT_MISSING) || k != 2))
        result(w, c);
    verdict(w, c, k == 0);
}

static void answers(struct world *w, uint64_t epoch)
{
    const struct draw *d = &w->epoch.draw;
    size_t whole = 0, k = 0;

    for (size_t i = 0; i < d->n; i++)
        whole += w->epoch.frame.units[d->units[i].index].complete;
    for (size_t i = 0; i < d->n; i++) {
        struct checked c = checked_of(w, epoch, d->units[i].index);

        if (!w->epoch.frame.units[d->units[i].index].complete)
            continue;
        answer(w, &c, k, k + 1 == whole);
        k++;
    }
    if (world_lies(w, LIE_VERDICT_UNDRAWN)) {
        struct checked c = checked_of(w, epoch, undrawn(w));

        job(w, &c);
        result(w, &c);
        verdict(w, &c, false);
    }
}

/* What the verdict records of the epoch say, whatever is true. */
static void count_answers(const struct world *w, uint64_t epoch,
                          struct answers *a)
{
    for (size_t i = 0; i < w->n; i++) {
        struct span leaf = span_of(w->leaves[i].text, w->leaves[i].n);
        uint8_t manifest[32];
        struct answers_verdict v;
        uint64_t of;

        if (!span_eq_str(record_find(leaf, "type"), "verdict") ||
            record_parse_u64(record_find(leaf, "epoch"), &of) != PARSE_OK ||
            of != epoch)
            continue;
        v.verdict = record_find(leaf, "verdict");
        v.route = record_find(leaf, "route");
        v.manifest = span_of(manifest, 32);
        assert(record_parse_hex(record_find(leaf, "manifest"), manifest, 32) ==
               PARSE_OK);
        assert(record_parse_hex(record_find(leaf, "object"), v.unit, 32) ==
               PARSE_OK);
        (void)answers_add(a, &v); /* the undrawn one counts for nobody */
    }
}

static void certify(struct world *w, uint64_t epoch, uint64_t close_ns)
{
    struct certificate c = {.from_ns = w->last_close_ns,
                            .to_ns = close_ns,
                            .verdicts_end = w->n,
                            .close = w->epoch.close};
    struct answers a;
    struct record r;

    assert(answers_init(&w->epoch.frame, &w->epoch.draw, &a) == 0);
    count_answers(w, epoch, &a);
    account_certify(&c, &w->policy, &a);
    if (world_lies(w, LIE_CERTIFICATE_BOUND))
        c.bound_units--;
    if (world_lies(w, LIE_CERTIFICATE_FROM_FUTURE))
        c.verdicts_end = w->n + 1;
    assert(account_write_certificate(&c, &a, &r));
    if (world_lies(w, LIE_CERTIFICATE_COUNT))
        replace(&r, "mismatch 1\n", "mismatch 0\n");
    if (world_lies(w, LIE_CERTIFICATE_UNANSWERED)) {
        replace(&r, "unanswered 1\n", "unanswered 0\n");
        replace(&r, "match 10\n", "match 11\n");
    }
    world_add(w, "certificate", &r);
    if (world_lies(w, LIE_CERTIFICATE_TWICE))
        world_add(w, "certificate", &r);
    answers_fini(&a);
}

static void traffic(struct world *w, uint64_t epoch)
{
    if (epoch == 2)
        batch_step(w);
    for (unsigned i = 0; i < w->exchanges; i++)
        exchange(w, epoch, i);
    trouble(w);
}

/* From the close to the draw. */
static void commit_and_draw(struct world *w, uint64_t epoch)
{
    struct merkle_head head;

    if (world_lies(w, LIE_REVEAL_BEFORE_CLOSE))
        reveal(w, epoch);
    if (world_lies(w, LIE_DRAW_BEFORE_CHECKPOINT))
        sign(w, &head);
    close_epoch(w, epoch, &head);
    if (world_lies(w, LIE_REVEAL_BEFORE_CHECKPOINT))
        reveal(w, epoch);
    if (!world_lies(w, LIE_DRAW_BEFORE_CHECKPOINT) &&
        !world_lies(w, LIE_CHECKPOINT_LACKS_CLOSE))
        sign(w, &head);
    /* Traffic of the next epoch goes on meanwhile. */
    exchange(w, epoch + 1, 100);
    if (!world_lies(w, LIE_REVEAL_BEFORE_CLOSE) &&
        !world_lies(w, LIE_REVEAL_BEFORE_CHECKPOINT))
        reveal(w, epoch);
    if (world_lies(w, LIE_DRAW_BEFORE_SEED)) {
        draw(w);
        add_draw(w, epoch);
        draw_fini(&w->epoch.draw);
    }
    seed(w, epoch, &head);
    draw(w);
    if (world_lies(w, LIE_VERDICT_BEFORE_DRAW))
        answers(w, epoch);
    if (!world_lies(w, LIE_DRAW_BEFORE_SEED))
        add_draw(w, epoch);
}

void world_epoch(struct world *w, uint64_t epoch)
{
    uint64_t close_ns;

    memset(&w->epoch, 0, sizeof w->epoch);
    frame_init(&w->epoch.frame);
    w->liar = epoch == 2;
    traffic(w, epoch);
    commit_and_draw(w, epoch);
    close_ns =
        UINT64_C(1764417600000000000) + (w->epoch.close_seq + 1) * 1000000;
    if (epoch < WORLD_EPOCHS) {
        if (!world_lies(w, LIE_VERDICT_BEFORE_DRAW))
            answers(w, epoch);
        certify(w, epoch, close_ns);
        world_sign(w);
    }
    w->last_close_ns = close_ns;
    w->liar = false;
    draw_fini(&w->epoch.draw);
    frame_fini(&w->epoch.frame);
}
