/*
 * claim.c - an answer's positions against logits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/claim/claim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/sampler/sampler.h"
#include "store/dialect.h"

int claim_scratch_init(struct claim_scratch *d, size_t vocab,
                       enum logprob_rule rule)
{
    *d = (struct claim_scratch){.vocab = vocab,
                                .rule = rule,
                                .places = malloc(vocab * sizeof *d->places)};
    return d->places != NULL ? 0 : -ENOMEM;
}

void claim_scratch_fini(struct claim_scratch *d)
{
    free(d->places);
    *d = (struct claim_scratch){0};
}

void claim_score_init(struct claim_score *s)
{
    *s = (struct claim_score){.first = SIZE_MAX};
}

size_t claim_tokens(const struct claim_llama *c)
{
    return c->choice->n_tokens;
}

bool claim_by_text(const struct claim_llama *c)
{
    return c->choice->n_tokens == 0 && c->choice->text.n > 0;
}

bool claim_has_logprobs(const struct claim_llama *c)
{
    return c->choice->has_logprobs && !c->after_sampling;
}

uint32_t claim_token(const struct claim_llama *c, size_t step)
{
    int64_t id = c->choice->tokens[step].chosen.id;

    return id >= 0 && id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
}

static uint32_t bits_of(float v)
{
    uint32_t b;

    memcpy(&b, &v, sizeof b);
    return b;
}

static void note(struct claim_score *s, size_t step, bool token)
{
    s->differing++;
    if (s->first != SIZE_MAX)
        return;
    s->first = step;
    s->first_is_token = token;
}

/* One position's candidates on the wire against its row. */
struct held {
    const struct claim_scratch *scratch;
    const float *logits;
    const struct llama_sampler *sampler; /* after its choice, or NULL */
    size_t step;
};

static bool is_known(const struct held *h, const struct api_candidate *c)
{
    return c->id >= 0 && (uint64_t)c->id < h->scratch->vocab;
}

static void hold_bits(const struct held *h, const struct api_candidate *c,
                      float computed, struct claim_score *s)
{
    uint32_t bits = is_known(h, c) ? bits_of(computed) : 0;

    if (is_known(h, c) && bits == c->bits)
        return;
    if (s->first == SIZE_MAX) {
        s->claimed_bits = c->bits;
        s->computed_bits = bits;
    }
    note(s, h->step, false);
}

static void hold(const struct held *h, const struct api_candidate *c,
                 struct claim_score *s)
{
    float computed = 0;

    if (!c->has_logprob || c->has_prob)
        return;
    s->compared++;
    if (is_known(h, c))
        computed = logprob_of(&h->scratch->row, h->logits[c->id]);
    hold_bits(h, c, computed, s);
}

static void hold_prob(const struct held *h, const struct api_candidate *c,
                      struct claim_score *s)
{
    float computed = 0;

    if (!c->has_prob)
        return;
    s->probs++;
    if (is_known(h, c))
        computed = llama_sampler_prob(h->sampler, (uint32_t)c->id);
    hold_bits(h, c, computed, s);
}

/* Alternatives that are each right, but not the largest, differ too. */
static void hold_order(const struct held *h, const struct api_token *t,
                       struct claim_score *s)
{
    for (size_t i = 0; i < t->n_top && i < h->scratch->vocab; i++) {
        if (!t->top[i].has_logprob || t->top[i].has_prob ||
            !is_known(h, &t->top[i]))
            continue;
        if (h->logits[t->top[i].id] != h->scratch->places[i]) {
            note(s, h->step, false);
            return;
        }
    }
}

/* The same of probabilities; a list that ends early has all above 0. */
static void hold_order_of_probs(const struct held *h, const struct api_token *t,
                                uint32_t n_probs, struct claim_score *s)
{
    bool whole =
        t->n_top >= n_probs || llama_sampler_above(h->sampler, 0) <= t->n_top;

    for (size_t i = 0; whole && i < t->n_top; i++) {
        float p = (float)t->top[i].logprob;
        whole = llama_sampler_above(h->sampler, p) <= i;
    }
    if (!whole)
        note(s, h->step, false);
}

static void choose(const struct claim_llama *c, const struct claim_row *r,
                   struct claim_score *s)
{
    uint32_t claimed = claim_token(c, r->step);
    uint32_t id;
    bool ok = llama_sampler_choose(r->sampler, r->logits, &id) == 0;

    s->choices += ok && c->seeded;
    if (ok && c->seeded)
        ok = id == claimed;
    else if (ok)
        ok = llama_sampler_possible(r->sampler, claimed);
    if (!ok || llama_sampler_accept(r->sampler, claimed) != 0)
        note(s, r->step, true);
}

static void make_row(struct claim_scratch *d, uint32_t n_probs,
                     const float *logits)
{
    if (d->number != 0 && d->held == d->number && d->held_n_probs == n_probs)
        return;
    logprob_row(logits, d->vocab, logprob_sorted(d->rule, d->vocab, n_probs),
                d->places, &d->row);
    d->held = d->number;
    d->held_n_probs = n_probs;
}

static void hold_logprobs(struct claim_scratch *d, const struct claim_llama *c,
                          const struct held *h, struct claim_score *s)
{
    const struct api_token *t = &c->choice->tokens[h->step];
    size_t before = s->differing;

    make_row(d, c->n_probs, h->logits);
    hold(h, &t->chosen, s);
    for (size_t i = 0; i < t->n_top; i++)
        hold(h, &t->top[i], s);
    if (t->n_top <= c->n_probs && s->differing == before)
        hold_order(h, t, s);
}

static void hold_probs(const struct claim_llama *c, const struct held *h,
                       struct claim_score *s)
{
    const struct api_token *t = &c->choice->tokens[h->step];
    size_t before = s->differing;

    hold_prob(h, &t->chosen, s);
    for (size_t i = 0; i < t->n_top; i++)
        hold_prob(h, &t->top[i], s);
    if (s->differing == before)
        hold_order_of_probs(h, t, c->n_probs, s);
}

bool claim_step(struct claim_scratch *d, const struct claim_llama *c,
                const struct claim_row *r, struct claim_score *s)
{
    struct held h = {d, r->logits, r->sampler, r->step};
    size_t before = s->differing;

    if (r->step >= c->choice->n_tokens)
        return true;
    if (c->choice->has_logprobs && !c->after_sampling)
        hold_logprobs(d, c, &h, s);
    if (r->sampler == NULL || claim_token(c, r->step) == UINT32_MAX)
        return s->differing == before;
    choose(c, r, s);
    if (c->after_sampling && c->choice->tokens[r->step].chosen.has_prob)
        hold_probs(c, &h, s);
    return s->differing == before;
}
