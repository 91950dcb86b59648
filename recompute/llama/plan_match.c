/*
 * plan_match.c - answers to turns, by tokens.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "llama/plan_match.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "llama/claim.h"
#include "llama/turn.h"

/* How well a turn fits; larger is better, in this order. */
struct fit {
    size_t agreed;   /* tokens of the answer that were fed, from the first */
    bool cached;     /* as many cached as the answer says */
    size_t rows_off; /* rows beyond or short of the answer's tokens: less is
                      * better */
};

static bool same_prompt(const struct turn *t, const struct claim_llama *c)
{
    if (!c->prompt)
        return c->n_prompt == SIZE_MAX || t->n_prompt == c->n_prompt;
    return t->n_prompt == c->n_prompt &&
           memcmp(t->ids, c->prompt, t->n_prompt * sizeof(*t->ids)) == 0;
}

/* The last token of an answer need not have been fed: it is not looked at. */
static size_t agreement(const struct turn *t, const struct claim_llama *c)
{
    size_t n = claim_tokens(c);
    size_t fed = t->n_ids - t->n_prompt;
    size_t i = 0;

    while (i + 1 < n && i < fed && t->ids[t->n_prompt + i] == claim_token(c, i))
        i++;
    return i;
}

static struct fit fit_of(const struct turn *t, const struct claim_llama *c)
{
    size_t n = claim_tokens(c);

    return (struct fit){agreement(t, c),
                        c->n_cached == SIZE_MAX || c->n_cached == t->n_cached,
                        t->n_rows > n ? t->n_rows - n : n - t->n_rows};
}

static int compare(const struct fit *a, const struct fit *b)
{
    if (a->agreed != b->agreed)
        return a->agreed > b->agreed ? 1 : -1;
    if (a->cached != b->cached)
        return a->cached ? 1 : -1;
    if (a->rows_off != b->rows_off)
        return a->rows_off < b->rows_off ? 1 : -1;
    return 0;
}

size_t plan_match(const struct turns *t, const struct claim_llama *c,
                  size_t *ret_candidates)
{
    struct fit best = {0};
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct turn *turn = &t->turns[i];
        if (turn->n_rows == 0 || !same_prompt(turn, c))
            continue;
        struct fit fit = fit_of(turn, c);
        int better = n == 0 ? 1 : compare(&fit, &best);
        if (better < 0)
            continue;
        if (better > 0) {
            best = fit;
            n = 0;
        }
        ret_candidates[n++] = i;
    }
    return n;
}
