/*
 * search_attempt.c - prefixes, ways and stages of one claim.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/search_attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/recipe.h"

enum { LEADS = 3, STAGES = 3, NO_PREFIX = 0, GUESSED = 1 };

static bool is_on(const struct attempt *a)
{
    return !a->solved && !a->spent;
}

static int grow(uint64_t **list, size_t n, size_t *size)
{
    if (n < *size)
        return 0;
    size_t more = *size ? 2 * *size : 64;
    uint64_t *grown = reallocarray(*list, more, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    *list = grown;
    *size = more;
    return 0;
}

static bool in_list(const uint64_t *list, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == key)
            return true;
    return false;
}

/* One way, with the share that each has in this stage. */
static int try_way(struct desk *d, struct attempt *a, size_t way)
{
    struct trial *t = &d->trial;
    uint64_t all = t->limit;
    uint64_t key = signature_mix(signature_mix(a->key, t->lead), way);
    bool equal = false;

    if (in_list(a->over, a->n_over, key))
        return 0;
    if (t->runs >= all) {
        a->spent = true;
        return 0;
    }
    if (a->share < all - t->runs)
        t->limit = t->runs + a->share;
    int err = trial_prompt(t, &a->ways->list[way], (uint32_t)t->claim->n_cached,
                           &equal);
    if (!err && equal)
        err = trial_answer(t, &equal);
    t->limit = all;
    if (err == -EDQUOT) {
        a->left = true;
        return 0;
    }
    a->solved = !err && equal;
    err = err ? err : grow(&a->over, a->n_over, &a->size_over);
    if (!err)
        a->over[a->n_over++] = key;
    return err;
}

static int try_ways(struct desk *d, struct attempt *a)
{
    struct trial *t = &d->trial;

    int err = trial_begin(t, a->prefix, (uint32_t)t->claim->n_cached);
    if (a->prefix_trace)
        memcpy(t->trace, a->prefix_trace,
               t->claim->n_cached * sizeof(*t->trace));
    for (size_t i = 0; !err && is_on(a) && i < a->ways->n; i++)
        err = try_way(d, a, i);
    return err;
}

/* A unified cache may have taken the prefix back behind cells that are free:
 * the tokens after it lie before it, all, or up to where the cells end. */
static int try_led(struct desk *d, struct attempt *a)
{
    struct trial *t = &d->trial;
    size_t prompt = t->claim->n_prompt - t->claim->n_cached;
    size_t furthest = t->furthest;
    int err = 0;

    if (!d->s->recipe->run.unified || d->s->recipe->run.sequences == 1)
        return 0;
    t->lead = prompt + claim_tokens(t->claim);
    for (unsigned i = 0; !err && is_on(a) && i < LEADS; i++) {
        t->furthest = t->missed = 0;
        err = try_ways(d, a);
        if (t->furthest == 0 || prompt + t->furthest - 1 >= t->lead)
            break;
        t->lead = prompt + t->furthest - 1;
    }
    t->lead = 0;
    if (t->furthest < furthest)
        t->furthest = furthest;
    return err;
}

static int try_prefix(struct desk *d, struct attempt *a,
                      const struct llama_saved *prefix, const uint64_t *trace)
{
    a->prefix = prefix;
    a->prefix_trace = trace;
    int err = try_ways(d, a);
    if (!err && is_on(a))
        err = try_led(d, a);
    a->prefix = NULL;
    a->prefix_trace = NULL;
    return err;
}

/* Prefixes of which one was tried already in this stage. */
struct seen {
    uint64_t *list;
    size_t n, size;
};

static int is_new(struct seen *s, uint64_t last, bool *ret_new)
{
    *ret_new = !in_list(s->list, s->n, last);
    if (!*ret_new)
        return 0;
    int err = grow(&s->list, s->n, &s->size);
    if (!err)
        s->list[s->n++] = last;
    return err;
}

/* The states of claims that are solved. */
static int with_donors(struct desk *d, struct attempt *a, struct seen *s)
{
    const struct claim_llama *c = d->trial.claim;
    bool fresh;
    int err = 0;

    for (size_t i = 0; !err && is_on(a) && i < d->n; i++) {
        const struct donor *donor = &d->donors[i];
        if (i == a->self || donor->n < c->n_cached || donor->n == 0 ||
            !desk_may_share(d, i, c))
            continue;
        a->key = donor->trace[c->n_cached - 1];
        err = is_new(s, a->key, &fresh);
        if (!err && fresh)
            err = try_prefix(d, a, donor->saved, donor->trace);
    }
    return err;
}

/* One way of another's prompt, as far as the prefix goes. */
static int with_way(struct desk *d, struct attempt *a, const struct prefill *p,
                    struct seen *s)
{
    struct trial *t = &d->trial;
    uint32_t n = (uint32_t)t->claim->n_cached;
    struct llama_saved *saved = NULL;
    bool fresh;

    t->offset = 0;
    a->key = trial_prefix_trace(t, p, n);
    int err = is_new(s, a->key, &fresh);
    if (err || !fresh)
        return err;
    err = trial_begin(t, NULL, 0);
    err = err ? err : trial_prefix(t, p, n);
    err = err ? err : llama_cache_save(t->cache, 0, &saved);
    uint64_t *trace = malloc(n * sizeof(*trace));
    if (!err && !trace)
        err = -ENOMEM;
    if (!err) {
        memcpy(trace, t->trace, n * sizeof(*trace));
        err = try_prefix(d, a, saved, trace);
    }
    llama_saved_close(saved);
    free(trace);
    return err;
}

/* All of the prefix is of this claim's prompt, which was computed whole. */
static bool lends_by_ways(const struct desk *d, size_t i,
                          const struct claim_llama *c)
{
    return d->claims[i].n_cached <= 1 && d->claims[i].n_prompt >= c->n_cached &&
           desk_may_share(d, i, c);
}

/* The first token of all was cached for this way: it is a prompt's as well. */
static bool put_first(struct prefill *p)
{
    struct regime g = p->pieces[0].regime;

    if (p->n == PREFILL_PIECES)
        return false;
    memmove(p->pieces + 1, p->pieces, p->n * sizeof(*p->pieces));
    p->pieces[0] = (struct piece){1, {g.rows > 1 ? g.rows : 2}};
    p->pieces[0].regime.stream_rows = p->pieces[0].regime.rows;
    p->n++;
    return true;
}

/* A donor's state is one under which its own answer is as claimed: others may
 * be, with other keys and values. And one that is not solved has a prompt. */
static int with_prompts(struct desk *d, struct attempt *a, struct seen *s)
{
    const struct claim_llama *c = d->trial.claim;
    int err = 0;

    for (size_t i = 0; !err && is_on(a) && i < d->n; i++) {
        struct prefills ways;
        if (i == a->self || !lends_by_ways(d, i, c))
            continue;
        err = desk_ways(d, i, d->claims[i].n_prompt - d->claims[i].n_cached,
                        &ways);
        if (err)
            break;
        for (size_t k = 0; !err && is_on(a) && k < ways.n; k++) {
            struct prefill p = ways.list[k];
            if (d->claims[i].n_cached == 0 || put_first(&p))
                err = with_way(d, a, &p, s);
        }
        prefills_fini(&ways);
    }
    return err;
}

/* A prefix that nobody lends is computed as part of a prompt: of one token
 * that is certain, of more it is a guess. */
static int with_guess(struct desk *d, struct attempt *a)
{
    struct trial *t = &d->trial;
    uint32_t n = (uint32_t)t->claim->n_cached;
    uint32_t rows = n > 1 ? n : 2;
    struct llama_saved *saved = NULL;
    struct prefill p = {.n = 1};

    if (rows > d->s->recipe->run.n_ubatch)
        return 0;
    p.pieces[0] = (struct piece){n, {rows, 0, 0, 0, rows}};
    a->key = GUESSED;
    t->offset = 0;
    int err = trial_begin(t, NULL, 0);
    err = err ? err : trial_prefix(t, &p, n);
    err = err ? err : llama_cache_save(t->cache, 0, &saved);
    if (!err) {
        a->prefix = saved;
        err = try_ways(d, a);
        a->prefix = NULL;
    }
    llama_saved_close(saved);
    return err;
}

/* This claim had all of the prefix from another that has it, too. */
static bool passes_on(const struct desk *d, size_t i,
                      const struct claim_llama *c)
{
    size_t cached = d->claims[i].n_cached;

    return cached != SIZE_MAX && cached >= c->n_cached;
}

/* Nobody can have computed the prefix in a way that was not tried. */
static bool is_whole(const struct desk *d, const struct attempt *a)
{
    const struct claim_llama *c = d->trial.claim;
    bool invariant = d->alphabet.n_decode == 1;

    if (d->s->recipe->shifts)
        return false;
    for (size_t i = 0; i < d->n; i++) {
        bool lent = invariant && d->donors[i].n >= c->n_cached;
        if (i != a->self && desk_may_share(d, i, c) && !lent &&
            !passes_on(d, i, c) && !(a->last && lends_by_ways(d, i, c)))
            return false;
    }
    return true;
}

static int attempt_stage(struct desk *d, struct attempt *a)
{
    size_t cached = d->trial.claim->n_cached;
    struct seen s = {NULL, 0, 0};

    a->left = false;
    a->key = NO_PREFIX;
    if (cached == 0)
        return try_ways(d, a);
    int err = with_donors(d, a, &s);
    if (!err && is_on(a) && a->last && cached > 1)
        err = with_prompts(d, a, &s);
    a->lent = s.n;
    if (!err && is_on(a) && (cached == 1 || (a->last && s.n == 0)))
        err = with_guess(d, a);
    free(s.list);
    return err;
}

int attempt_all(struct desk *d, struct attempt *a)
{
    static const uint64_t times[STAGES] = {3, 10, 40};
    const struct trial *t = &d->trial;
    uint64_t tokens = claim_tokens(t->claim) + 16;
    int err = 0;

    if (trial_cuts_hidden(t))
        tokens += t->claim->n_prompt;
    a->left = true;
    for (unsigned i = 0; !err && is_on(a) && a->left && i < STAGES; i++) {
        a->share = times[i] * tokens;
        err = attempt_stage(d, a);
    }
    a->whole = t->claim->n_cached <= 1 || is_whole(d, a);
    return err;
}

void attempt_fini(struct attempt *a)
{
    free(a->over);
}
