/*
 * claimed_ids.c - the token ids that an answer gives: claimed_ids.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/claimed_ids.h"

#include <errno.h>
#include <stdlib.h>

#include "store/dialect.h"

static bool has_ids(const struct api_exchange *x)
{
    const struct api_answer *a = &x->answer;

    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];

        if (c->index != i || !c->has_ids || c->n_tokens == 0)
            return false;
    }
    return a->n_choices != 0 &&
           a->n_choices == x->request.n_prompts * x->request.n;
}

/* All of a choice's tokens; of each its id. */
static const struct api_token *tokens_of(const struct api_choice *c,
                                         size_t *ret_n)
{
    *ret_n = c->n_ids != 0 ? c->n_ids : c->n_tokens;
    return c->n_ids != 0 ? c->ids : c->tokens;
}

static uint8_t *put_be32(uint8_t *to, uint32_t v)
{
    for (unsigned shift = 32; shift > 0; shift -= 8)
        *to++ = (uint8_t)(v >> (shift - 8));
    return to;
}

int claimed_ids(const struct api_exchange *x, uint8_t **ret_bytes,
                size_t *ret_n)
{
    const struct api_answer *a = &x->answer;
    size_t numbers = a->n_choices, n;
    uint8_t *bytes, *to;

    if (!has_ids(x))
        return -ENODATA;
    for (size_t i = 0; i < a->n_choices; i++) {
        (void)tokens_of(&a->choices[i], &n);
        numbers += n;
    }
    bytes = to = calloc(numbers, sizeof(uint32_t));
    if (bytes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_token *tokens = tokens_of(&a->choices[i], &n);

        to = put_be32(to, (uint32_t)n);
        for (size_t t = 0; t < n; t++)
            to = put_be32(to, (uint32_t)tokens[t].chosen.id);
    }
    *ret_bytes = bytes;
    *ret_n = (size_t)(to - bytes);
    return 0;
}
