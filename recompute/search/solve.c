/*
 * solve.c - a claim solved, refuted, or why neither.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/solve.h"

#include <stdlib.h>

#include "base/evidence.h"
#include "search/attempt.h"
#include "search/output.h"

enum { RUNS_EACH = 20, PREFIXES = 24 };

/* What was tried is all there can have been: or why not. */
static const char *gap(const struct attempt *a)
{
    const struct replay *r = &a->x->replay;

    if (r->stepper->claims[r->self].n_cached == SIZE_MAX)
        return "how much was cached is not on the wire";
    if (a->spent || a->left)
        return "the limit on work is reached";
    if (a->missing != NULL)
        return a->missing;
    if (a->chunkings->missing != NULL)
        return a->chunkings->missing;
    if (r->guessed)
        return "where a prompt's keys were cut is not on the wire";
    if (r->missed != r->furthest + 1)
        return "no batch of it could be tried";
    return r->furthest == 0 ? r->stepper->first_row : NULL;
}

static int conclude(const struct attempt *a)
{
    struct search_context *x = a->x;
    struct search_verdict *v = &x->verdicts[x->replay.self];

    v->step = x->replay.furthest;
    v->why = gap(a);
    if (v->why != NULL)
        return 0;
    v->outcome = SEARCH_REFUTED;
    return output_report(x);
}

static double evidence(const struct replay *r)
{
    const struct stepper *s = r->stepper;
    double bits = 0;

    for (size_t i = 0; i < r->claim.n_answer; i++)
        bits += s->ops->evidence(s->self, r->self, i);
    return bits;
}

static bool is_told(const struct replay *r)
{
    bool told = true;

    for (size_t i = 0; i < r->claim.n_answer; i++)
        told = told && r->told[i];
    return told;
}

/* A batch was found under which no row differs. Without logprobs it is one of
 * many: the answer follows from it, but nobody's prefix. */
static int accept(const struct attempt *a)
{
    struct search_context *x = a->x;
    struct replay *r = &x->replay;
    struct search_verdict *v = &x->verdicts[r->self];
    int err = 0;

    if (!v->invariant && !is_told(r)) {
        v->step = SIZE_MAX;
        v->why = "without logprobs its batches cannot be found";
        return 0;
    }
    v->outcome = SEARCH_SOLVED;
    v->why = NULL;
    v->step = SIZE_MAX;
    v->bits = evidence_after(evidence(r), v->runs);
    if (r->claim.has_logprobs || v->invariant)
        err = context_lend(x, v->invariant && a->certain);
    return err == 0 ? output_report(x) : err;
}

/* The claim of the replay, all chunkings of its prompt and all prefixes. */
static int solve_cached(struct search_context *x, bool last)
{
    struct replay *r = &x->replay;
    const struct stepper *s = x->stepper;
    struct search_verdict *v = &x->verdicts[r->self];
    struct chunking_list chunkings;
    struct attempt a = {.x = x, .chunkings = &chunkings, .last = last};
    int err =
        s->ops->chunkings(s->self, r->self, r->claim.n_cached, &chunkings);

    if (err != 0)
        return err;
    err = attempt_all(&a);
    v->runs += r->runs;
    v->invariant = chunkings.n == 1 && s->n_shapes == 1 && !s->splits_hidden;
    if (err == 0)
        err = a.solved ? accept(&a) : conclude(&a);
    attempt_fini(&a);
    free(chunkings.list);
    return err;
}

/* ---- how much of its prompt was cached ---- */

static void add_length(const struct stepper *s, size_t *lengths, size_t *n,
                       size_t length)
{
    if (s->prefix_unit > 1)
        length -= length % s->prefix_unit;
    if (*n == PREFIXES)
        return;
    for (size_t i = 0; i < *n; i++)
        if (lengths[i] == length)
            return;
    lengths[(*n)++] = length;
}

/* The wire's own count, or every one that an earlier request can have left. */
static size_t list_lengths(const struct stepper *s, size_t claim,
                           size_t *ret_lengths)
{
    const struct search_claim *c = &s->claims[claim];
    size_t n = 0;

    if (c->n_cached != SIZE_MAX) {
        ret_lengths[0] = c->n_cached;
        return 1;
    }
    ret_lengths[n++] = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t length;

        if (i == claim || s->claims[i].ids == NULL)
            continue;
        length = context_common(&s->claims[i], c);
        add_length(s, ret_lengths, &n,
                   length < c->n_prompt ? length : c->n_prompt - 1);
    }
    return n;
}

int solve_claim(struct search_context *x, size_t claim, bool last)
{
    const struct stepper *s = x->stepper;
    struct search_claim c = s->claims[claim];
    uint64_t tokens = c.n_prompt + c.n_answer;
    size_t lengths[PREFIXES];
    size_t n = list_lengths(s, claim, lengths);
    int err = 0;

    x->replay.limit =
        x->limit != 0 ? x->limit : s->free_runs + RUNS_EACH * tokens;
    for (size_t i = 0; err == 0 && i < n; i++) {
        c.n_cached = lengths[i];
        replay_claim(&x->replay, claim, &c);
        err = solve_cached(x, last);
        if (x->verdicts[claim].outcome == SEARCH_SOLVED)
            break;
    }
    return err;
}
