/*
 * attempt.c - prefixes, chunkings and stages of one claim.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/attempt.h"

#include <errno.h>

#include "search/walk.h"

enum { STAGES = 3, ANSWER_LEAST = 16, NO_PREFIX = 0, ASSUMED = 1 };

/* A prefix at hand, and what it is known by. */
struct beginning {
    struct cached_prefix prefix;
    const uint64_t *trace;
    uint64_t key;
    bool certain;
};

static bool is_on(const struct attempt *a)
{
    return !a->solved && !a->spent;
}

/* A prompt whose first row is equal under one split may have run under
 * another. */
static int try_splits(struct replay *r, const struct prefill_chunking *c,
                      bool *ret_equal)
{
    int err = 0;

    *ret_equal = false;
    for (size_t k = 0; err == 0 && !*ret_equal; k++) {
        err = replay_prompt(r, c, k, ret_equal);
        if (err == 0 && *ret_equal)
            err = walk_answer(r, ret_equal);
    }
    return err == 1 ? 0 : err;
}

/* One chunking, with the share that each has in this stage. */
static int try_chunking(struct attempt *a, const struct beginning *b, size_t i)
{
    uint64_t key = signature_mix(signature_mix(b->key, b->prefix.offset), i);
    struct replay *r = &a->x->replay;
    uint64_t all = r->limit;
    bool equal, fresh;
    int err;

    if (signature_set_has(&a->over, key))
        return 0;
    if (r->runs >= all) {
        a->spent = true;
        return 0;
    }
    if (a->share < all - r->runs)
        r->limit = r->runs + a->share;
    err = try_splits(r, &a->chunkings->list[i], &equal);
    r->limit = all;
    if (err == -EDQUOT) {
        a->left = true;
        return 0;
    }
    a->solved = err == 0 && equal;
    a->certain = b->certain;
    return err == 0 ? signature_set_add(&a->over, key, &fresh) : err;
}

static int try_chunkings(struct attempt *a, const struct beginning *b)
{
    int err = replay_begin(&a->x->replay, &b->prefix, b->trace);

    for (size_t i = 0; err == 0 && is_on(a) && i < a->chunkings->n; i++)
        err = try_chunking(a, b, i);
    return err;
}

/* What follows the prefix may lie elsewhere than behind it. */
static int try_offsets(struct attempt *a, struct beginning *b)
{
    struct replay *r = &a->x->replay;
    const struct stepper *s = r->stepper;
    size_t furthest = r->furthest;
    int err = 0;

    for (unsigned i = 1; err == 0 && is_on(a); i++) {
        if (!s->ops->offset(s->self, i, r->furthest, &b->prefix.offset))
            break;
        r->furthest = r->missed = 0;
        err = try_chunkings(a, b);
    }
    if (r->furthest < furthest)
        r->furthest = furthest;
    return err;
}

static int try_source(struct attempt *a, const struct prefix_source *source,
                      bool assumed)
{
    size_t n = a->x->replay.claim.n_cached;
    struct beginning b = {.prefix = {source->state, n, 0},
                          .trace = source->trace,
                          .key = assumed ? ASSUMED : source->trace[n - 1],
                          .certain = source->certain};
    int err = try_chunkings(a, &b);

    return err == 0 && is_on(a) && !assumed ? try_offsets(a, &b) : err;
}

static int try_sources(struct attempt *a)
{
    struct prefixes p = {.x = a->x, .last = a->last};
    const struct prefix_source *source;
    int err = 0;

    while (err == 0 && is_on(a)) {
        err = prefixes_next(&p, &source);
        if (err != 0 || source == NULL)
            break;
        err = try_source(a, source, p.assumed);
    }
    a->missing = prefixes_missing(&p);
    prefixes_fini(&p);
    return err;
}

static int try_all(struct attempt *a)
{
    struct beginning nothing = {.key = NO_PREFIX, .certain = true};

    a->left = false;
    if (a->x->replay.claim.n_cached != 0)
        return try_sources(a);
    return try_chunkings(a, &nothing);
}

int attempt_all(struct attempt *a)
{
    static const uint64_t times[STAGES] = {3, 10, 40};
    const struct search_claim *c = &a->x->replay.claim;
    uint64_t tokens = c->n_answer + ANSWER_LEAST;
    int err = 0;

    if (a->x->stepper->splits_hidden)
        tokens += c->n_prompt;
    a->left = true;
    for (unsigned i = 0; err == 0 && is_on(a) && a->left && i < STAGES; i++) {
        a->share = times[i] * tokens;
        err = try_all(a);
    }
    return err;
}

void attempt_fini(struct attempt *a)
{
    signature_set_fini(&a->over);
}
