/*
 * search.c - each claim that is asked for, solved with the fewest of the
 * others: those that may have computed its cached prefix, those that may have
 * computed theirs, and so on. SPDX-License-Identifier: Apache-2.0
 */
#include "search/search.h"

#include <errno.h>
#include <stdlib.h>

#include "search/solve.h"

enum { ROUNDS = 4 };

static bool may_lend(const struct search_context *x, size_t other,
                     const struct search_claim *c)
{
    const struct search_claim *o = &x->stepper->claims[other];
    size_t own = x->stepper->own_prefix;

    if (c->n_cached <= own || o->ids == NULL)
        return false;
    if (c->n_cached == SIZE_MAX)
        return context_common(o, c) > own;
    return context_shares(x, other, c);
}

/* Marks the claims that must be solved for one, those for these, and so on. */
static int mark_needed(const struct search_context *x, size_t claim,
                       bool *needed)
{
    const struct stepper *s = x->stepper;
    size_t *open = calloc(s->n + 1, sizeof *open);
    size_t n = 1;

    if (open == NULL)
        return -ENOMEM;
    open[0] = claim;
    needed[claim] = true;
    while (n > 0) {
        const struct search_claim *c = &s->claims[open[--n]];

        for (size_t i = 0; c->ids != NULL && i < s->n; i++) {
            if (needed[i] || !may_lend(x, i, c))
                continue;
            needed[i] = true;
            open[n++] = i;
        }
    }
    free(open);
    return 0;
}

/* Not decided, and another try may tell more: one without a prefix of others
 * has had its only one. */
static bool is_open(const struct search_context *x, size_t i)
{
    const struct search_verdict *v = &x->verdicts[i];

    return v->outcome == SEARCH_UNDECIDED &&
           (v->runs == 0 ||
            x->stepper->claims[i].n_cached > x->stepper->own_prefix);
}

/* This one has the claim's prefix as none before it. */
static bool lends_new(const struct search_context *x, size_t lender,
                      size_t claim)
{
    const struct search_claim *c = &x->stepper->claims[claim];
    const struct prefix_source *new = &x->lent[lender];

    if (c->n_cached == SIZE_MAX)
        return true;
    if (new->n < c->n_cached || !context_shares(x, lender, c))
        return false;
    for (size_t i = 0; i < x->stepper->n; i++) {
        const struct prefix_source *old = &x->lent[i];

        if (i != lender && old->n >= c->n_cached && context_shares(x, i, c) &&
            old->trace[c->n_cached - 1] == new->trace[c->n_cached - 1])
            return false;
    }
    return true;
}

/* One lender, and the claim with what it lends. */
static int solve_lender(struct search_context *x, size_t lender, size_t claim,
                        bool *ret_more)
{
    int err;

    if (!is_open(x, lender) || context_hopeless(x, lender) != NULL)
        return 0;
    err = solve_claim(x, lender, false);
    if (err != 0 || x->verdicts[lender].outcome != SEARCH_SOLVED)
        return err;
    *ret_more = true;
    return lends_new(x, lender, claim) ? solve_claim(x, claim, false) : 0;
}

/* Claims whose prefix is cached wait for those that computed it. */
static int solve_in_rounds(struct search_context *x, size_t claim,
                           const bool *needed)
{
    const struct stepper *s = x->stepper;
    bool more = true;
    int err = 0;

    for (unsigned round = 0; more && round < ROUNDS; round++) {
        more = round == 0;
        for (size_t i = 0; err == 0 && is_open(x, claim) && i < s->n; i++)
            if (i != claim && needed[i] &&
                (round == 0) == (s->claims[i].n_cached <= s->own_prefix))
                err = solve_lender(x, i, claim, &more);
    }
    return err != 0 || !is_open(x, claim) ? err : solve_claim(x, claim, true);
}

/* One claim, and of the others what it needs. */
static int solve_asked(struct search_context *x, size_t claim)
{
    bool *needed;
    int err;

    if (!is_open(x, claim) || context_hopeless(x, claim) != NULL)
        return 0;
    needed = calloc(x->stepper->n + 1, sizeof *needed);
    if (needed == NULL)
        return -ENOMEM;
    err = mark_needed(x, claim, needed);
    if (err == 0)
        err = solve_in_rounds(x, claim, needed);
    free(needed);
    return err;
}

int search_claims(const struct search *s, struct search_verdict *ret_verdicts)
{
    const struct output_rows *o = &s->output;
    struct search_context x = {.stepper = s->stepper,
                               .output = o,
                               .limit = s->limit,
                               .verdicts = ret_verdicts};
    int err = context_init(&x);

    for (size_t i = 0; err == 0 && i < s->stepper->n; i++)
        ret_verdicts[i] =
            (struct search_verdict){.outcome = SEARCH_UNDECIDED,
                                    .step = SIZE_MAX,
                                    .why = context_hopeless(&x, i)};
    for (size_t i = o->first; err == 0 && i - o->first < o->n; i++)
        err = solve_asked(&x, i);
    context_fini(&x);
    return err;
}
