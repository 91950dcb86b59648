/*
 * claim.c - an answer's positions against logits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "llama/claim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "llama/sampler.h"
#include "store/dialect.h"

int claim_desk_init(struct claim_desk *d, size_t vocab, enum logprob_rule rule)
{
    *d = (struct claim_desk){vocab, rule, malloc(vocab * sizeof(float))};
    return d->places ? 0 : -ENOMEM;
}

void claim_desk_fini(struct claim_desk *d)
{
    free(d->places);
    *d = (struct claim_desk){0};
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

uint32_t claim_token(const struct claim_llama *c, size_t step)
{
    int64_t id = c->choice->tokens[step].chosen.id;

    return id >= 0 && id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
}

static uint32_t bits_of(float v)
{
    uint32_t b;

    memcpy(&b, &v, sizeof(b));
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

void claim_differs(struct claim_score *s, size_t step)
{
    note(s, step, true);
}

/* One logprob on the wire against its row's. */
struct held {
    const struct claim_desk *desk;
    const float *logits;
    struct logprob_row row;
    size_t step;
};

static void hold(const struct held *h, const struct api_candidate *c,
                 struct claim_score *s)
{
    if (!c->has_logprob || c->has_prob)
        return;
    s->compared++;
    uint32_t computed = 0;
    bool known = c->id >= 0 && (uint64_t)c->id < h->desk->vocab;
    if (known)
        computed = bits_of(logprob_of(&h->row, h->logits[c->id]));
    if (known && computed == c->bits)
        return;
    if (s->first == SIZE_MAX) {
        s->claimed_bits = c->bits;
        s->computed_bits = computed;
    }
    note(s, h->step, false);
}

/* Alternatives that are each right, but not the largest, differ too. */
static void hold_order(const struct held *h, const struct api_token *t,
                       struct claim_score *s)
{
    for (size_t i = 0; i < t->n_top && i < h->desk->vocab; i++) {
        int64_t id = t->top[i].id;
        if (!t->top[i].has_logprob || t->top[i].has_prob || id < 0 ||
            (uint64_t)id >= h->desk->vocab)
            continue;
        if (h->logits[id] != h->desk->places[i]) {
            note(s, h->step, false);
            return;
        }
    }
}

static void choose(const struct claim_llama *c, size_t step,
                   const float *logits, struct llama_sampler *sampler,
                   struct claim_score *s)
{
    uint32_t id;
    uint32_t claimed = claim_token(c, step);

    bool chosen = llama_sampler_choose(sampler, logits, &id) == 0;
    s->choices += chosen;
    if (!chosen || id != claimed || llama_sampler_accept(sampler, claimed) != 0)
        note(s, step, true);
}

bool claim_step(const struct claim_desk *d, const struct claim_llama *c,
                size_t step, const float *logits, struct llama_sampler *sampler,
                struct claim_score *s)
{
    struct held h = {.desk = d, .logits = logits, .step = step};
    size_t before = s->differing;

    if (step >= c->choice->n_tokens)
        return true;
    const struct api_token *t = &c->choice->tokens[step];
    if (c->choice->has_logprobs && !c->after_sampling) {
        logprob_row(logits, d->vocab, d->rule, c->n_probs, d->places, &h.row);
        hold(&h, &t->chosen, s);
        for (size_t i = 0; i < t->n_top; i++)
            hold(&h, &t->top[i], s);
        if (t->n_top <= c->n_probs && s->differing == before)
            hold_order(&h, t, s);
    }
    if (sampler && claim_token(c, step) != UINT32_MAX)
        choose(c, step, logits, sampler, s);
    return s->differing == before;
}
