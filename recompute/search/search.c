/*
 * search.c - all claims of a server, each solved with what the others tell.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/evidence.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/recipe.h"
#include "engine/llama/sampler/sampler.h"
#include "search/search_attempt.h"
#include "search/search_desk.h"
#include "store/dialect.h"

enum {
    CUTS = 24,
    RUNS_STEP = 20,    /* default limit: for each token, */
    RUNS_FREE = 10000, /* and beside them, of a model with so many weights */
    WEIGHTS_FREE = 1 << 25,
    PATH_FLOATS = 1 << 28
};

uint32_t desk_token(const struct claim_llama *c, size_t position)
{
    return position < c->n_prompt ? c->prompt[position]
                                  : claim_token(c, position - c->n_prompt);
}

bool desk_may_share(const struct desk *d, size_t other,
                    const struct claim_llama *c)
{
    const struct claim_llama *o = &d->claims[other];

    if (!o->prompt || o->n_prompt + claim_tokens(o) <= c->n_cached)
        return false;
    for (size_t i = 0; i < c->n_cached; i++)
        if (desk_token(o, i) != c->prompt[i])
            return false;
    return true;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void add_cut(uint32_t *cuts, size_t *n, size_t cut, size_t below)
{
    if (cut == 0 || cut >= below || *n == CUTS)
        return;
    for (size_t i = 0; i < *n; i++)
        if (cuts[i] == cut)
            return;
    cuts[(*n)++] = (uint32_t)cut;
}

/* Where a prompt of n new tokens may have been cut: by a generating slot, by
 * the prompts of the others. */
static size_t list_cuts(const struct desk *d, size_t self, size_t n,
                        uint32_t *ret_cuts)
{
    size_t n_cuts = 0;

    if (d->s->recipe->run.unified)
        return 0;
    add_cut(ret_cuts, &n_cuts, 1, n);
    for (size_t i = 0; i < d->n; i++) {
        const struct claim_llama *c = &d->claims[i];
        if (i == self || !c->prompt)
            continue;
        if (c->n_cached < c->n_prompt)
            add_cut(ret_cuts, &n_cuts, c->n_prompt - c->n_cached, n);
        else
            add_cut(ret_cuts, &n_cuts, c->n_prompt, n);
    }
    qsort(ret_cuts, n_cuts, sizeof(*ret_cuts), compare_u32);
    return n_cuts;
}

/* The answer's score, from the accepted rows, choices included. */
static int score(struct desk *d, struct search_verdict *v)
{
    struct trial *t = &d->trial;
    const struct claim_llama *c = t->claim;
    struct llama_sampler *sampler = NULL;
    int err = 0;

    claim_score_init(&v->score);
    if (c->sampling)
        err =
            llama_sampler_open(c->sampling, (uint32_t)t->desk.vocab, &sampler);
    for (size_t i = 0; !err && sampler && i < c->n_prompt; i++)
        err = llama_sampler_accept(sampler, c->prompt[i]);
    for (size_t i = 0; !err && i < claim_tokens(c); i++)
        (void)claim_step(&t->desk, c, i, t->path + i * t->desk.vocab, sampler,
                         &v->score);
    if (sampler)
        llama_sampler_close(sampler);
    return err;
}

static int keep_donor(struct desk *d, size_t self)
{
    struct donor *donor = &d->donors[self];
    const struct claim_llama *c = d->trial.claim;
    size_t n = c->n_prompt + claim_tokens(c) - 1;

    int err = llama_cache_save(d->trial.cache, 0, &donor->saved);
    if (err)
        return err;
    donor->trace = malloc(n * sizeof(*donor->trace));
    if (!donor->trace)
        return -ENOMEM;
    memcpy(donor->trace, d->trial.trace, n * sizeof(*donor->trace));
    donor->n = n;
    return 0;
}

/* A batch that others fill ends in the midst of a prompt, wherever their tokens
 * leave it to: such cuts are not among the ways of prefill.h. */
static bool may_fill_a_batch(const struct desk *d, size_t self)
{
    const struct claim_llama *c = d->trial.claim;
    uint64_t longest = 0, others = d->alphabet.recipe->sequences - 1;

    for (size_t i = 0; i < d->n; i++)
        if (i != self && d->claims[i].n_prompt > longest)
            longest = d->claims[i].n_prompt;
    return c->n_prompt - c->n_cached + others * longest >
           d->alphabet.recipe->n_batch;
}

/* What was tried is all there can have been: or why not. */
static const char *gap(const struct desk *d, const struct attempt *a)
{
    const struct trial *t = &d->trial;
    bool cached = t->claim->n_cached > 1;

    if (a->spent || a->left)
        return "the limit on work is reached";
    if (cached && a->lent == 0)
        return "the cached prefix is of no request that is solved";
    if (cached && !a->whole)
        return "the cached prefix may be of a request that is not solved";
    if (!a->ways->complete)
        return "cells of a unified cache are not on the wire";
    if (!d->verdicts[a->self].invariant && may_fill_a_batch(d, a->self))
        return "a full batch may have cut its prompt";
    if (t->missed != t->furthest + 1)
        return "no batch of it could be tried";
    if (t->furthest == 0 && d->alphabet.places && d->n > 2)
        return "kernels depend on places in a ubatch that neighbours hide";
    return NULL;
}

static int conclude(struct desk *d, const struct attempt *a)
{
    struct search_verdict *v = &d->verdicts[a->self];
    struct trial *t = &d->trial;

    claim_score_init(&v->score);
    v->score.first = t->furthest;
    v->why = gap(d, a);
    if (v->why)
        return 0;
    v->outcome = SEARCH_REFUTED;
    claim_score_init(&v->score);
    (void)claim_step(&t->desk, t->claim, t->furthest,
                     t->path + t->furthest * t->desk.vocab, NULL, &v->score);
    if (v->score.differing == 0)
        claim_differs(&v->score, t->furthest);
    return desk_report(d, a->self);
}

/* The wire's own count, or every one that an earlier request can have left. */
static size_t list_cached(const struct desk *d, size_t self, uint32_t *ret_c)
{
    const struct claim_llama *c = &d->claims[self];
    size_t n = 0;

    if (c->n_cached != SIZE_MAX) {
        ret_c[0] = (uint32_t)c->n_cached;
        return 1;
    }
    ret_c[n++] = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct claim_llama *o = &d->claims[i];
        size_t k = 0;
        if (i == self || !o->prompt)
            continue;
        while (k + 1 < c->n_prompt && k < o->n_prompt + claim_tokens(o) &&
               desk_token(o, k) == c->prompt[k])
            k++;
        add_cut(ret_c, &n, k, c->n_prompt);
    }
    return n;
}

static int not_found(struct search_verdict *v)
{
    claim_score_init(&v->score);
    v->outcome = SEARCH_UNDECIDED;
    v->why = "without logprobs its batches cannot be found";
    return 0;
}

static double evidence(const struct claim_llama *c, uint64_t tried)
{
    double bits = 0;

    for (size_t i = 0; !c->after_sampling && i < claim_tokens(c); i++)
        bits += evidence_of(&c->choice->tokens[i].chosen);
    return evidence_after(bits, tried);
}

/* A batch was found. Without logprobs it is the first one tried, and all there
 * is to compare are the choices made under it. */
static int accept(struct desk *d, size_t self)
{
    struct search_verdict *v = &d->verdicts[self];
    const struct claim_llama *c = d->trial.claim;

    int err = score(d, v);
    if (err)
        return err;
    v->outcome = SEARCH_SOLVED;
    v->why = NULL;
    v->bits = evidence(c, v->runs);
    if (claim_has_logprobs(c) || v->invariant)
        err = keep_donor(d, self);
    else if (v->score.choices == 0 || v->score.differing != 0)
        return not_found(v);
    return err ? err : desk_report(d, self);
}

int desk_ways(const struct desk *d, size_t self, size_t n,
              struct prefills *ret_ways)
{
    uint32_t cuts[CUTS];

    size_t n_cuts = list_cuts(d, self, n, cuts);
    return prefills_init(ret_ways, &d->alphabet, (uint32_t)n, cuts, n_cuts);
}

/* The claim of d->trial, all ways of its prompt and all prefixes. */
static int solve_cached(struct desk *d, size_t self, bool last_round)
{
    struct trial *t = &d->trial;
    struct prefills ways;
    struct attempt a = {.self = self, .ways = &ways, .last = last_round};
    struct search_verdict *v = &d->verdicts[self];

    int err =
        desk_ways(d, self, t->claim->n_prompt - t->claim->n_cached, &ways);
    if (err)
        return err;
    err = attempt_all(d, &a);
    v->runs += t->runs;
    v->invariant = ways.n == 1 && d->alphabet.n_decode == 1;
    if (!err && a.solved)
        err = accept(d, self);
    else if (!err)
        err = conclude(d, &a);
    attempt_fini(&a);
    prefills_fini(&ways);
    return err;
}

/* What chance may take is less where a run takes longer. */
static uint64_t limit_of(const struct desk *d, const struct claim_llama *c)
{
    const struct llama_shape *s = llama_model_shape(d->s->model);
    uint64_t tokens = c->n_prompt + claim_tokens(c);
    uint64_t layer = 4 * (uint64_t)s->hidden + 3 * (uint64_t)s->ffn;
    uint64_t weights = (s->layers * layer + s->vocab) * s->hidden;
    uint64_t free_runs = RUNS_FREE;

    if (weights > WEIGHTS_FREE)
        free_runs = RUNS_FREE * (uint64_t)WEIGHTS_FREE / weights;
    return d->s->limit ? d->s->limit : free_runs + RUNS_STEP * tokens;
}

int desk_solve(struct desk *d, size_t self, bool last_round)
{
    struct search_verdict *v = &d->verdicts[self];
    struct claim_llama c = d->claims[self];
    uint32_t cached[CUTS];
    bool guessed = c.n_cached == SIZE_MAX;
    int err = 0;

    d->trial.limit = limit_of(d, &c);
    trial_choice_fini(&d->trial);
    size_t n = list_cached(d, self, cached);
    d->trial.claim = &c;
    for (size_t i = 0; !err && i < n; i++) {
        c.n_cached = cached[i];
        d->trial.runs = 0;
        d->trial.furthest = d->trial.missed = 0;
        err = solve_cached(d, self, last_round);
        if (v->outcome == SEARCH_SOLVED)
            break;
        if (guessed) {
            v->outcome = SEARCH_UNDECIDED;
            v->why = "how much was cached is not on the wire";
        }
    }
    d->trial.claim = NULL;
    return err;
}

/* Why a claim cannot be searched for at all, or NULL. */
const char *desk_hopeless(const struct desk *d, const struct claim_llama *c)
{
    size_t n = claim_tokens(c);

    if (!c->prompt)
        return "the prompt's tokens are not known";
    if (n == 0 || !c->choice->has_ids)
        return "the answer's token ids are not on the wire";
    if (c->n_prompt == 0 ||
        (c->n_cached != SIZE_MAX && c->n_cached >= c->n_prompt))
        return "nothing of the prompt was computed";
    if (c->n_prompt + n > d->s->recipe->run.cells)
        return "the answer is longer than its cache";
    if (n > PATH_FLOATS / d->trial.desk.vocab)
        return "the answer is too long for one search";
    for (size_t i = 0; i < n; i++)
        if (claim_token(c, i) >= d->trial.desk.vocab)
            return "an id is not in the vocabulary";
    return NULL;
}

static size_t longest(const struct desk *d)
{
    size_t most = 1;

    for (size_t i = 0; i < d->n; i++)
        if (claim_tokens(&d->claims[i]) > most)
            most = claim_tokens(&d->claims[i]);
    return most;
}

static int open_trial(struct desk *d)
{
    struct trial *t = &d->trial;
    const struct recipe *r = d->s->recipe;

    t->model = d->s->model;
    t->alphabet = &d->alphabet;
    t->text = d->s->text;
    t->recipe = r->run;
    t->recipe.sequences = 1;
    t->recipe.cells += 64; /* a first cell that is not 0 */
    if (r->run.unified && r->run.sequences > 1)
        t->recipe.cells *= 2; /* and a prefix behind free cells */
    int err = claim_desk_init(&t->desk, llama_model_shape(d->s->model)->vocab,
                              r->logprobs);
    err = err ? err : alphabet_init(&d->alphabet, d->s->model, &r->run);
    err = err ? err : llama_run_open(d->s->model, d->s->pool, NULL, &t->run);
    if (err)
        return err;
    size_t rows = longest(d) + 1; /* and the one that ends an answer */
    if (rows > PATH_FLOATS / t->desk.vocab)
        rows = PATH_FLOATS / t->desk.vocab;
    t->path = malloc(rows * t->desk.vocab * sizeof(*t->path));
    t->trace = calloc(t->recipe.cells, sizeof(*t->trace));
    d->donors = calloc(d->n + 1, sizeof(*d->donors));
    return t->path && t->trace && d->donors ? 0 : -ENOMEM;
}

static void close_desk(struct desk *d)
{
    for (size_t i = 0; d->donors && i < d->n; i++) {
        llama_saved_close(d->donors[i].saved);
        free(d->donors[i].trace);
    }
    free(d->donors);
    trial_choice_fini(&d->trial);
    free(d->trial.path);
    free(d->trial.trace);
    free(d->trial.logits);
    if (d->trial.cache)
        llama_cache_close(d->trial.cache);
    llama_run_close(d->trial.run);
    claim_desk_fini(&d->trial.desk);
}

/* How many have solved what this claim's prefix may be of. */
static size_t lenders(const struct desk *d, size_t self)
{
    const struct claim_llama *c = &d->claims[self];
    size_t n = 1;

    for (size_t i = 0; i < d->n; i++)
        n += d->donors[i].n > 0 &&
             (c->n_cached == SIZE_MAX || desk_may_share(d, i, c));
    return n;
}

/* Claims whose prefix is cached wait for those that computed it; one is tried
 * again if more lend it now than `lent` says, and in the last round. */
static int one_round(struct desk *d, unsigned round, size_t *lent,
                     bool *ret_more)
{
    *ret_more = false;
    for (size_t i = 0; i < d->n; i++) {
        struct search_verdict *v = &d->verdicts[i];
        const struct claim_llama *c = &d->claims[i];
        if (v->outcome != SEARCH_UNDECIDED || desk_hopeless(d, c))
            continue;
        if ((round == 0) != (c->n_cached <= 1))
            continue;
        bool last = round + 1 == SEARCH_ROUNDS;
        size_t now = lenders(d, i);
        if (now == lent[i] && (!last || c->n_cached <= 1))
            continue;
        lent[i] = now;
        int err = desk_solve(d, i, last);
        if (err)
            return err;
        *ret_more |= v->outcome == SEARCH_SOLVED;
    }
    return 0;
}

int search_claims(const struct search *s, const struct claim_llama *claims,
                  size_t n, struct search_verdict *ret_verdicts)
{
    struct desk d = {
        .s = s, .claims = claims, .verdicts = ret_verdicts, .n = n};
    bool more = true;
    size_t *lent = calloc(n + 1, sizeof(*lent));

    int err = lent ? open_trial(&d) : -ENOMEM;
    for (size_t i = 0; !err && i < n; i++) {
        ret_verdicts[i] = (struct search_verdict){.outcome = SEARCH_UNDECIDED};
        claim_score_init(&ret_verdicts[i].score);
        ret_verdicts[i].why = desk_hopeless(&d, &claims[i]);
        if (s->wanted.n == 0 && claim_by_text(&claims[i]))
            err = search_text(s, &claims[i], &ret_verdicts[i]);
    }
    if (!err && s->wanted.n > 0)
        err = desk_solve_wanted(&d);
    for (unsigned round = 0; !err && s->wanted.n == 0 && round < SEARCH_ROUNDS;
         round++) {
        if (!more && round > 1)
            round = SEARCH_ROUNDS - 1;
        err = one_round(&d, round, lent, &more);
    }
    free(lent);
    close_desk(&d);
    return err;
}
