/*
 * plan_match.c - answers to turns, by tokens.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_match.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/llama/claim.h"
#include "engine/llama/schedule/turn.h"

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

/* Another count of cached tokens weighs more than any row. */
static size_t rank_of(const struct turn *t, const struct claim_llama *c)
{
    size_t n = claim_tokens(c);
    size_t rank = t->n_rows > n ? t->n_rows - n : n - t->n_rows;

    if (c->n_cached != SIZE_MAX && c->n_cached != t->n_cached)
        rank += SIZE_MAX / 2;
    return rank;
}

size_t plan_match(const struct turns *t, const struct claim_llama *c,
                  struct plan_fit *ret_fits)
{
    size_t best = 0, n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct turn *turn = &t->turns[i];
        if (turn->n_rows == 0 || !same_prompt(turn, c))
            continue;
        size_t agreed = agreement(turn, c);
        if (agreed < best)
            continue;
        if (agreed > best)
            n = 0;
        best = agreed;
        ret_fits[n++] = (struct plan_fit){i, rank_of(turn, c)};
    }
    return n;
}
