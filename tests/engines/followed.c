/*
 * followed.c - rows of slot requests to the claims that wait for them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "followed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/sampler/sampler.h"
#include "engine/llama/schedule/feed.h"
#include "engine/llama/schedule/plan_needs.h"
#include "engine/llama/schedule/plan_run.h"
#include "engine/llama/vocab/text_match.h"
#include "store/dialect.h"

/* One claim held against one slot request. */
struct pair {
    const struct claim_llama *claim;
    const struct slot_request *request;
    struct llama_sampler *sampler;
    struct claim_score score;
    size_t step; /* the next of its rows */
};

struct work {
    const struct deployed *d;
    const struct feed *f;
    struct claim_scratch scratch;
    struct pair *pairs;
    size_t n, size;
};

void score_differs(struct claim_score *s, size_t step)
{
    s->differing++;
    if (s->first != SIZE_MAX)
        return;
    s->first = step;
    s->first_is_token = true;
}

static bool same_prompt(const struct slot_request *r,
                        const struct claim_llama *c)
{
    if (c->prompt == NULL)
        return c->n_prompt == SIZE_MAX || r->n_prompt == c->n_prompt;
    return r->n_prompt == c->n_prompt &&
           memcmp(r->ids, c->prompt, r->n_prompt * sizeof *r->ids) == 0;
}

/* The last token of an answer need not have been fed: it is not looked at. */
static size_t agreement(const struct slot_request *r,
                        const struct claim_llama *c)
{
    size_t n = claim_tokens(c), i = 0;

    while (i + 1 < n && r->n_prompt + i < r->n_ids &&
           r->ids[r->n_prompt + i] == claim_token(c, i))
        i++;
    return i;
}

static int add_pair(struct work *w, const struct claim_llama *c,
                    const struct slot_request *r)
{
    struct pair *pairs =
        array_grow(w->pairs, &w->size, w->n, 1, sizeof *w->pairs);
    int err = 0;

    if (pairs == NULL)
        return -ENOMEM;
    w->pairs = pairs;
    pairs[w->n] = (struct pair){.claim = c, .request = r};
    claim_score_init(&pairs[w->n].score);
    if (c->sampling != NULL)
        err = llama_sampler_open(c->sampling, (uint32_t)w->scratch.vocab,
                                 &pairs[w->n].sampler);
    for (size_t i = 0; err == 0 && c->sampling != NULL && i < r->n_prompt; i++)
        err = llama_sampler_accept(pairs[w->n].sampler, r->ids[i]);
    w->n++;
    return err;
}

static int pair_claim(struct work *w, const struct claim_llama *c)
{
    size_t best = 0;
    int err = 0;

    for (size_t i = 0; i < w->f->n_requests; i++) {
        const struct slot_request *r = &w->f->requests[i];

        if (same_prompt(r, c) && agreement(r, c) > best)
            best = agreement(r, c);
    }
    for (size_t i = 0; err == 0 && i < w->f->n_requests; i++) {
        const struct slot_request *r = &w->f->requests[i];

        if (r->n_rows != 0 && same_prompt(r, c) && agreement(r, c) == best)
            err = add_pair(w, c, r);
    }
    return err;
}

/* Without ids: whether the token that was fed after this row was possible. */
static int hold_fed(struct pair *p, const float *logits)
{
    const struct slot_request *r = p->request;
    size_t at = r->n_prompt + p->step;
    uint32_t chosen;

    if (p->sampler == NULL || at >= r->n_ids)
        return 0;
    if (llama_sampler_choose(p->sampler, logits, &chosen) != 0 ||
        !llama_sampler_possible(p->sampler, r->ids[at]))
        score_differs(&p->score, p->step);
    return llama_sampler_accept(p->sampler, r->ids[at]);
}

static int on_row(void *arg, size_t row, const float *logits)
{
    struct work *w = arg;
    int err = 0;

    w->scratch.number = row + 1;
    for (size_t i = 0; err == 0 && i < w->n; i++) {
        struct pair *p = &w->pairs[i];

        if (p->step >= p->request->n_rows || p->request->rows[p->step] != row)
            continue;
        if (claim_by_text(p->claim))
            err = hold_fed(p, logits);
        else
            (void)claim_step(&w->scratch, p->claim,
                             &(struct claim_row){p->step, logits, p->sampler},
                             &p->score);
        p->step++;
    }
    return err;
}

static int run(struct work *w)
{
    const struct plan *plan = &w->f->plan;
    bool *needed = calloc(plan->n + 1, sizeof *needed);
    struct plan_runner r = {
        w->d->model, &w->d->recipe.run, w->d->pool, needed, on_row, w};
    uint64_t runs;
    int err = needed == NULL ? -ENOMEM : 0;

    for (size_t i = 0; err == 0 && i < w->n; i++)
        for (size_t k = 0; k < w->pairs[i].request->n_rows; k++)
            needed[w->f->row_ops[w->pairs[i].request->rows[k]]] = true;
    if (err == 0)
        err = plan_needs(plan, needed);
    if (err == 0)
        err = plan_run(plan, &r, &runs);
    free(needed);
    return err;
}

/* A position that was never computed was not reproduced. */
static int finish(const struct work *w, struct pair *p)
{
    const struct claim_llama *c = p->claim;
    const struct slot_request *r = p->request;
    struct text_match m = {.text = c->choice->text,
                           .stops = c->stops,
                           .n_stops = c->n_stops,
                           .whole = c->choice->finish.n > 0,
                           .open = true};
    bool equal = true;
    int err = 0;

    for (size_t i = r->n_rows; i < claim_tokens(c); i++)
        score_differs(&p->score, i);
    if (claim_by_text(c))
        err = text_match_equal(w->d->text, &m, r->ids + r->n_prompt,
                               r->n_ids - r->n_prompt, &equal);
    if (err == 0 && !equal)
        score_differs(&p->score, 0);
    return err;
}

/* Of those that differ equally the one that went the least beyond it. */
static bool is_better(const struct pair *p, const struct followed *than)
{
    size_t n = claim_tokens(p->claim), rows = p->request->n_rows;
    size_t far = rows > n ? rows - n : n - rows;
    size_t other = than->rows > n ? than->rows - n : n - than->rows;

    if (!than->found || p->score.differing != than->score.differing)
        return !than->found || p->score.differing < than->score.differing;
    return far < other;
}

int follow(const struct deployed *d, const struct feed *f,
           const struct claim_llama *claims, size_t n,
           struct followed *ret_followed)
{
    struct work w = {.d = d, .f = f};
    int err = claim_scratch_init(&w.scratch, llama_model_shape(d->model)->vocab,
                                 d->recipe.logprobs);

    memset(ret_followed, 0, n * sizeof *ret_followed);
    for (size_t i = 0; err == 0 && i < n; i++)
        err = pair_claim(&w, &claims[i]);
    if (err == 0 && w.n != 0)
        err = run(&w);
    for (size_t i = 0; err == 0 && i < w.n; i++) {
        struct followed *r = &ret_followed[w.pairs[i].claim - claims];

        err = finish(&w, &w.pairs[i]);
        if (err == 0 && is_better(&w.pairs[i], r))
            *r = (struct followed){true, w.pairs[i].score,
                                   w.pairs[i].request->n_rows};
    }
    for (size_t i = 0; i < w.n; i++)
        llama_sampler_close(w.pairs[i].sampler);
    free(w.pairs);
    claim_scratch_fini(&w.scratch);
    return err;
}
