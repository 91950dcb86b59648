/*
 * claimed_ids.c - the token ids that an answer gives: claimed_ids.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/claimed_ids.h"

#include "store/dialect.h"

static void put_be32(struct buffer *out, uint32_t v)
{
    uint8_t bytes[] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16),
                       (uint8_t)(v >> 8), (uint8_t)v};

    buffer_add(out, span_of(bytes, sizeof bytes));
}

bool claimed_ids(const struct api_exchange *x, struct buffer *out)
{
    const struct api_answer *a = &x->answer;

    if (a->n_choices != x->request.n_prompts * x->request.n)
        return false;
    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];

        if (c->index != i || !c->has_ids || c->n_tokens == 0)
            return false;
        put_be32(out, (uint32_t)c->n_tokens);
        for (size_t t = 0; t < c->n_tokens; t++)
            put_be32(out, (uint32_t)c->tokens[t].chosen.id);
    }
    return a->n_choices != 0 && !out->failed;
}
