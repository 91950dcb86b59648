/*
 * search_wanted.c - one claim of many: solved with the fewest of the others.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "search/search_desk.h"

/* A solved answer that goes on after its last token may end there under one
 * regime only. */
static int report_after(struct desk *d, size_t self)
{
    const struct search_wanted *w = &d->s->wanted;
    size_t n = claim_tokens(d->trial.claim);
    int err = 1;

    for (unsigned i = 0; err == 1 && i < d->alphabet.n_decode; i++) {
        err = trial_after(&d->trial, i);
        if (!err)
            err = w->found(w->arg, self, d->trial.path, n + 1);
    }
    return err < 0 ? err : 0;
}

int desk_report(struct desk *d, size_t self)
{
    const struct search_wanted *w = &d->s->wanted;
    const struct trial *t = &d->trial;
    bool solved = d->verdicts[self].outcome == SEARCH_SOLVED;
    size_t n = solved ? claim_tokens(t->claim) : t->furthest + 1;

    if (self < w->first || self - w->first >= w->n)
        return 0;
    int err = w->found(w->arg, self, t->path, n);
    if (err == 1)
        err = solved && t->claim->n_prompt + n < t->recipe.cells
                  ? report_after(d, self)
                  : 0;
    return err;
}

/* How many of the first tokens two claims have in common. */
static size_t common(const struct claim_llama *a, const struct claim_llama *b)
{
    size_t n = 0;

    while (n < a->n_prompt + claim_tokens(a) &&
           n < b->n_prompt + claim_tokens(b) &&
           desk_token(a, n) == desk_token(b, n))
        n++;
    return n;
}

static bool may_lend(const struct desk *d, size_t other,
                     const struct claim_llama *c)
{
    const struct claim_llama *o = &d->claims[other];

    if (c->n_cached <= 1 || !o->prompt)
        return false;
    if (c->n_cached == SIZE_MAX)
        return common(o, c) > 1;
    return desk_may_share(d, other, c);
}

/* Marks the claims that must be solved for one, those for these, and so on. */
static int mark_needed(const struct desk *d, size_t self, bool *needed)
{
    size_t *open = calloc(d->n + 1, sizeof(*open));
    size_t n = 1;

    if (!open)
        return -ENOMEM;
    open[0] = self;
    needed[self] = true;
    while (n > 0) {
        const struct claim_llama *c = &d->claims[open[--n]];
        for (size_t i = 0; c->prompt && i < d->n; i++) {
            if (needed[i] || !may_lend(d, i, c))
                continue;
            needed[i] = true;
            open[n++] = i;
        }
    }
    free(open);
    return 0;
}

static bool is_solved(const struct desk *d, size_t i)
{
    return d->verdicts[i].outcome == SEARCH_SOLVED;
}

static bool is_open(const struct desk *d, size_t i)
{
    return d->verdicts[i].outcome == SEARCH_UNDECIDED;
}

/* This donor has the claim's prefix as none before it. */
static bool lends_new(const struct desk *d, size_t donor, size_t self)
{
    const struct claim_llama *c = &d->claims[self];

    if (c->n_cached == SIZE_MAX)
        return true;
    if (d->donors[donor].n < c->n_cached || !desk_may_share(d, donor, c))
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (i != donor && d->donors[i].n >= c->n_cached &&
            desk_may_share(d, i, c) &&
            d->donors[i].trace[c->n_cached - 1] ==
                d->donors[donor].trace[c->n_cached - 1])
            return false;
    return true;
}

/* One donor, and the claim with what it lends. */
static int solve_donor(struct desk *d, size_t donor, size_t self, bool *ret_did)
{
    if (!is_open(d, donor) || desk_hopeless(d, &d->claims[donor]))
        return 0;
    int err = desk_solve(d, donor, false);
    if (err || !is_solved(d, donor))
        return err;
    *ret_did = true;
    return lends_new(d, donor, self) ? desk_solve(d, self, false) : 0;
}

/* Claims whose prefix is cached wait for those that computed it. */
static int solve_with_donors(struct desk *d, size_t self, const bool *needed)
{
    bool more = true;
    int err = 0;

    for (unsigned round = 0; more && round < SEARCH_ROUNDS; round++) {
        more = round == 0;
        for (size_t i = 0; !err && is_open(d, self) && i < d->n; i++)
            if (i != self && needed[i] &&
                (round == 0) == (d->claims[i].n_cached <= 1))
                err = solve_donor(d, i, self, &more);
    }
    return err || !is_open(d, self) ? err : desk_solve(d, self, true);
}

int desk_solve_wanted(struct desk *d)
{
    const struct search_wanted *w = &d->s->wanted;
    int err = 0;

    for (size_t i = w->first; !err && i < w->first + w->n; i++) {
        if (is_solved(d, i) || desk_hopeless(d, &d->claims[i]))
            continue;
        bool *needed = calloc(d->n + 1, sizeof(*needed));
        if (!needed)
            return -ENOMEM;
        err = mark_needed(d, i, needed);
        if (!err)
            err = solve_with_donors(d, i, needed);
        free(needed);
    }
    return err;
}
