/*
 * open_ids.c - room for ids that are to be found.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/claim/open_ids.h"

#include "base/arena.h"
#include "engine/llama/claim/claim.h"
#include "store/dialect.h"

enum { STOP_TOKENS = 16 }; /* of an answer, without a byte of its text */

void claim_open_ids(struct claim_llama *c, const struct api_answer *a,
                    struct arena *arena)
{
    struct api_choice *open;

    if (a->n_choices != 1 || !claim_by_text(c) || !a->has_usage ||
        c->sampling == NULL || !c->seeded || a->tokens_out == 0 ||
        a->tokens_out > c->choice->text.n + STOP_TOKENS)
        return;
    open = arena_take(arena, 1, sizeof *open);
    if (open == NULL)
        return;
    *open = *c->choice;
    open->tokens = arena_take(arena, a->tokens_out, sizeof *open->tokens);
    if (open->tokens == NULL)
        return;
    open->n_tokens = a->tokens_out;
    open->has_ids = true;
    c->choice = open;
    c->open_ids = true;
}
