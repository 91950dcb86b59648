/*
 * prefix.c - the sources of a cached prefix.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/prefix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OF_SOLVED, OF_PROMPTS, OF_NOBODY, OVER };

static void forget_made(struct prefixes *p)
{
    const struct stepper *s = p->x->stepper;

    s->ops->forget(s->self, p->made.state);
    free(p->made.trace);
    p->made = (struct prefix_source){0};
}

static void forget_chunkings(struct prefixes *p)
{
    free(p->chunkings.list);
    p->chunkings = (struct chunking_list){0};
    p->chunking = 0;
}

void prefixes_fini(struct prefixes *p)
{
    forget_made(p);
    forget_chunkings(p);
    signature_set_fini(&p->seen);
}

/* ---- of claims that are solved ---- */

static int of_solved(struct prefixes *p, const struct prefix_source **ret)
{
    const struct search_context *x = p->x;
    const struct search_claim *c = &x->replay.claim;
    bool fresh;
    int err = 0;

    while (err == 0 && *ret == NULL && p->claim < x->stepper->n) {
        size_t i = p->claim++;
        const struct prefix_source *lent = &x->lent[i];

        if (i == x->replay.self || lent->n == 0 || lent->n < c->n_cached ||
            !context_shares(x, i, c))
            continue;
        err = signature_set_add(&p->seen, lent->trace[c->n_cached - 1], &fresh);
        if (err == 0 && fresh)
            *ret = lent;
    }
    return err;
}

/* ---- computed anew ---- */

/* The prefix under a chunking of a prompt, as a source of its own. */
static int make(struct prefixes *p, const struct prefill_chunking *c)
{
    struct replay *r = &p->x->replay;
    const struct stepper *s = r->stepper;
    size_t n = r->claim.n_cached;
    struct cached_prefix nothing = {NULL, 0, 0};
    int err = replay_begin(r, &nothing, NULL);

    if (err == 0)
        err = replay_prefix(r, c, n);
    if (err == 0)
        err = s->ops->save(s->self, &p->made.state);
    if (err != 0)
        return err;
    p->made.trace = malloc(n * sizeof *p->made.trace);
    if (p->made.trace == NULL)
        return -ENOMEM;
    memcpy(p->made.trace, r->trace, n * sizeof *p->made.trace);
    p->made.n = n;
    p->made.certain = n <= r->stepper->own_prefix;
    return 0;
}

/* All of the prefix is of this claim's prompt, which was computed whole. */
static bool lends_prompt(const struct search_context *x, size_t i,
                         const struct search_claim *c)
{
    const struct search_claim *o = &x->stepper->claims[i];

    return o->n_cached <= x->stepper->own_prefix &&
           o->n_prompt >= c->n_cached && context_shares(x, i, c);
}

/* The next claim whose prompt lends, with its chunkings. */
static int open_prompt(struct prefixes *p)
{
    const struct stepper *s = p->x->stepper;
    const struct replay *r = &p->x->replay;
    size_t i = p->claim++;
    int err;

    if (i == r->self || !lends_prompt(p->x, i, &r->claim))
        return 0;
    err = s->ops->chunkings(s->self, i, 0, &p->chunkings);
    if (err == 0 && p->chunkings.missing != NULL)
        p->unlisted = p->chunkings.missing;
    return err;
}

static int of_prompts(struct prefixes *p, const struct prefix_source **ret)
{
    struct replay *r = &p->x->replay;
    size_t n = r->claim.n_cached;
    bool fresh;
    int err = 0;

    while (err == 0 && *ret == NULL) {
        if (p->chunking == p->chunkings.n) {
            forget_chunkings(p);
            if (p->claim == p->x->stepper->n)
                break;
            err = open_prompt(p);
            continue;
        }
        const struct prefill_chunking *c = &p->chunkings.list[p->chunking++];
        err = signature_set_add(&p->seen, replay_prefix_trace(r, c, n), &fresh);
        if (err != 0 || !fresh)
            continue;
        err = make(p, c);
        *ret = &p->made;
    }
    return err;
}

static int of_nobody(struct prefixes *p, const struct prefix_source **ret)
{
    const struct stepper *s = p->x->stepper;
    size_t n = p->x->replay.claim.n_cached;
    struct prefill_chunking c;
    int err;

    if (p->assumed || (n > s->own_prefix && (!p->last || p->seen.n != 0)))
        return 0;
    if (!s->ops->assume(s->self, n, &c))
        return 0;
    err = make(p, &c);
    *ret = &p->made;
    p->assumed = true;
    return err;
}

int prefixes_next(struct prefixes *p, const struct prefix_source **ret_source)
{
    const struct prefix_source *found = NULL;
    int err = 0;

    forget_made(p);
    for (; err == 0 && p->part != OVER; p->part++, p->claim = 0) {
        if (p->part == OF_SOLVED)
            err = of_solved(p, &found);
        else if (p->part == OF_NOBODY)
            err = of_nobody(p, &found);
        else if (p->last &&
                 p->x->replay.claim.n_cached > p->x->stepper->own_prefix)
            err = of_prompts(p, &found);
        if (found != NULL)
            break;
    }
    if (err == 0)
        *ret_source = found;
    return err;
}

/* ---- whether these are all ---- */

/* The prefix stands in this claim as far as its tokens are known. */
static bool may_hold(const struct search_context *x, size_t i,
                     const struct search_claim *c)
{
    const struct search_claim *o = &x->stepper->claims[i];
    size_t n = context_known(x, i);

    if (o->ids == NULL)
        return true;
    if (n > c->n_cached)
        n = c->n_cached;
    else if (!o->goes_on && n == o->n_prompt + o->n_answer)
        return false;
    return memcmp(o->ids, c->ids, n * sizeof *c->ids) == 0;
}

/* This claim had all of the prefix from another that has it, too. */
static bool passes_on(const struct search_claim *o,
                      const struct search_claim *c)
{
    return o->n_cached != SIZE_MAX && o->n_cached >= c->n_cached;
}

/* Nobody can have computed the prefix in a way that prefixes_next leaves
 * out. */
static bool is_whole(const struct prefixes *p)
{
    const struct search_context *x = p->x;
    const struct search_claim *c = &x->replay.claim;

    if (x->stepper->prefix_moves)
        return false;
    for (size_t i = 0; i < x->stepper->n; i++) {
        const struct search_claim *o = &x->stepper->claims[i];
        bool lent = x->lent[i].certain && x->lent[i].n >= c->n_cached;

        if (i != x->replay.self && may_hold(x, i, c) && !lent &&
            !passes_on(o, c) && !(p->last && lends_prompt(x, i, c)))
            return false;
    }
    return true;
}

const char *prefixes_missing(const struct prefixes *p)
{
    if (p->x->replay.claim.n_cached <= p->x->stepper->own_prefix)
        return NULL;
    if (p->seen.n == 0)
        return "the cached prefix is of no request that is solved";
    if (!is_whole(p))
        return "the cached prefix may be of a request that is not solved";
    return p->unlisted;
}
