/*
 * verdict_record.c - a comparison as the record `verdict`: verdict_record.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "comparer/verdict_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TOKEN_MAX = 256, DETAIL_MAX = 256 };

static struct span word(const char *s)
{
    return s == NULL ? span_of("", 0) : span_str(s);
}

static struct span cut(struct span s)
{
    return s.n > DETAIL_MAX ? span_of(s.p, DETAIL_MAX) : s;
}

/* A digest, or an empty value where there is none. */
static void put_digest(struct record *r, const char *key, const uint8_t *digest)
{
    static const uint8_t none[32];
    bool empty = digest == NULL || memcmp(digest, none, sizeof none) == 0;

    record_hex(r, key, span_of(digest, empty ? 0 : sizeof none));
}

static void put_judgement(struct record *r, const struct judgement *j)
{
    record_text(r, "verdict", span_str(verdict_name(j->verdict)));
    record_text(
        r, "class",
        word(j->class == CLASS_NONE ? NULL : verdict_class_name(j->class)));
    record_text(r, "reason", word(j->reason));
}

static void put_counts(struct record *r, const struct evidence *e)
{
    record_u64(r, "runs", e->runs);
    record_u64(r, "runs_differ", e->runs_differ);
    record_u64(r, "choices", e->choices);
    record_u64(r, "tokens", e->tokens);
    record_u64(r, "tokens_differ", e->tokens_differ);
    record_u64(r, "logprobs", e->logprobs);
    record_u64(r, "logprobs_differ", e->logprobs_differ);
    record_u64(r, "length_differ", e->length_differ);
    record_u64(r, "envelope_differ", e->envelope_differ);
}

/* The token's bytes, or "id N" where only that is known. */
static void put_token(struct record *r, const char *key,
                      const struct difference_side *s)
{
    char id[24];

    if (s == NULL || !s->present) {
        record_text(r, key, span_of("", 0));
    } else if (s->bytes.p != NULL) {
        record_text(r, key,
                    span_of(s->bytes.p,
                            s->bytes.n > TOKEN_MAX ? TOKEN_MAX : s->bytes.n));
    } else {
        (void)snprintf(id, sizeof id, "id %" PRId64, s->id); /* fits */
        record_text(r, key, span_str(id));
    }
}

static void put_bits(struct record *r, const char *key,
                     const struct difference_side *s)
{
    char bits[9] = "";

    if (s != NULL && s->present && s->has_bits)
        (void)snprintf(bits, sizeof bits, "%08" PRIx32, s->bits); /* fits */
    record_text(r, key, span_str(bits));
}

static bool same_side(const struct difference_side *a,
                      const struct difference_side *b)
{
    return a->id >= 0 && b->id >= 0 ? a->id == b->id
                                    : span_eq(a->bytes, b->bytes);
}

/* Where the chosen tokens' logprobs agree, the difference is among the
 * alternatives: the first that differs stands for it. */
static void find_sides(const struct comparison *x,
                       const struct difference_side **claimed,
                       const struct difference_side **recomputed)
{
    const struct differences *d = &x->differences;

    *claimed = x->row == NULL ? NULL : &x->row->claimed;
    *recomputed = x->row == NULL ? NULL : &x->row->recomputed;
    if (x->row == NULL || x->judgement.class != CLASS_LOGPROB ||
        ((*claimed)->has_bits && (*claimed)->bits != (*recomputed)->bits))
        return;
    for (size_t i = 0; i < d->n_top_claimed; i++)
        for (size_t k = 0; k < d->n_top_recomputed; k++)
            if (same_side(&d->top_claimed[i], &d->top_recomputed[k]) &&
                d->top_claimed[i].bits != d->top_recomputed[k].bits) {
                *claimed = &d->top_claimed[i];
                *recomputed = &d->top_recomputed[k];
                return;
            }
}

static void put_place(struct record *r, const struct comparison *x)
{
    const struct difference_side *claimed, *recomputed;

    find_sides(x, &claimed, &recomputed);
    record_u64(r, "choice", x->judgement.at.choice);
    record_u64(r, "position", x->judgement.at.position);
    put_token(r, "claimed_token", claimed);
    put_token(r, "recomputed_token", recomputed);
    put_bits(r, "claimed_bits", claimed);
    put_bits(r, "recomputed_bits", recomputed);
}

bool reproduced_record(const struct claim *c, const struct result *r,
                       const struct comparison *x, struct record *ret_r)
{
    bool by = x->judgement.verdict == VERDICT_MATCH;
    uint8_t digest[32] = {0};

    if (result_digest(r, digest) != 0)
        return false;
    record_init(ret_r);
    record_u64(ret_r, "epoch", c->epoch);
    record_hex(ret_r, "object", span_of(c->unit, sizeof c->unit));
    record_text(ret_r, "by", by ? cut(r->detail) : word(NULL));
    record_text(ret_r, "detail", by ? word(NULL) : cut(r->detail));
    put_digest(ret_r, "manifest", c->manifest);
    put_digest(ret_r, "result_digest", digest);
    record_text(ret_r, "route", r->route);
    record_text(ret_r, "level",
                span_eq_str(r->level, "-") ? word(NULL) : r->level);
    record_u64(ret_r, "tokens", x->evidence.tokens);
    record_u64(ret_r, "logprobs", x->evidence.logprobs);
    record_u64(ret_r, "evidence_bits", by ? x->evidence_bits : 0);
    record_u64(ret_r, "forward_runs", r->forward_runs);
    return !ret_r->full;
}

/* What the worker has to say, or what a match rests on if not on logprobs. */
static struct span verdict_detail(const struct result *first,
                                  const struct comparison *x)
{
    const struct evidence *e = &x->evidence;
    struct span s = first == NULL ? word(NULL) : first->detail;

    if (s.n != 0 || x->judgement.verdict != VERDICT_MATCH || e->logprobs != 0)
        return cut(s);
    return word(x->by_text ? "compared by its text, without logprobs"
                           : "compared by tokens, without logprobs");
}

bool verdict_record(const struct claim *c, const struct result *first,
                    const struct comparison *x, struct record *r)
{
    uint8_t digest[32] = {0};

    if (first != NULL && result_digest(first, digest) != 0)
        return false;
    record_init(r);
    record_u64(r, "epoch", c->epoch);
    record_hex(r, "object", span_of(c->unit, sizeof c->unit));
    put_judgement(r, &x->judgement);
    record_text(r, "route", first == NULL ? word(NULL) : first->route);
    record_text(r, "level",
                first == NULL || span_eq_str(first->level, "-") ? word(NULL)
                                                                : first->level);
    put_digest(r, "manifest", c->manifest);
    put_digest(r, "result_digest", digest);
    put_counts(r, &x->evidence);
    record_text(r, "envelope", span_str(x->envelope));
    put_place(r, x);
    record_u64(r, "evidence_bits", x->evidence_bits);
    record_u64(r, "forward_runs", first == NULL ? 0 : first->forward_runs);
    record_text(r, "detail", verdict_detail(first, x));
    return !r->full;
}
