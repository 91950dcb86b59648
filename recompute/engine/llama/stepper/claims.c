/*
 * claims.c - claims for the search.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/stepper/claims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/vocab.h"
#include "store/dialect.h"

/* Tokens of the answer up to the first whose id is not told. */
static size_t told_tokens(const struct claim_llama *c)
{
    size_t n = 0;

    while (n < claim_tokens(c) &&
           (c->open_ids || claim_token(c, n) != UINT32_MAX))
        n++;
    return n;
}

/* The server lists a character made of several tokens once, with the last one's
 * id and all its bytes: the ids before it are not on the wire. */
static bool hides_tokens(const struct claim_llama *c, size_t i,
                         const struct llama_vocab *text)
{
    const struct api_candidate *chosen = &c->choice->tokens[i].chosen;

    return chosen->has_bytes &&
           chosen->bytes.n > llama_vocab_piece(text, claim_token(c, i)).n;
}

static const char *hopeless(const struct claim_llama *c,
                            const struct claim_limits *limits)
{
    if (claim_tokens(c) == 0 || !c->choice->has_ids)
        return "the answer's token ids are not on the wire";
    if (c->n_prompt + claim_tokens(c) > limits->cells)
        return "the answer is longer than its cache";
    for (size_t i = 0; i < claim_tokens(c); i++)
        if (claim_token(c, i) >= limits->vocab)
            return "an id is not in the vocabulary";
    for (size_t i = 0; limits->text != NULL && i < claim_tokens(c); i++)
        if (hides_tokens(c, i, limits->text))
            return "a character is listed without the tokens before its last";
    return NULL;
}

static int fill(const struct claim_llama *c, const struct claim_limits *limits,
                struct search_claim *to, uint32_t **ret_ids)
{
    size_t n = told_tokens(c);
    uint32_t *ids;

    *to = (struct search_claim){.n_prompt = c->n_prompt,
                                .n_cached = c->n_cached,
                                .has_logprobs = claim_has_logprobs(c),
                                .open_ids = c->open_ids,
                                .goes_on = n < claim_tokens(c) ||
                                           claim_by_text(c) ||
                                           c->choice->finish.n == 0,
                                .why = hopeless(c, limits)};
    if (c->prompt == NULL)
        return 0;
    ids = calloc(c->n_prompt + n + 1, sizeof *ids);
    if (ids == NULL)
        return -ENOMEM;
    memcpy(ids, c->prompt, c->n_prompt * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[c->n_prompt + i] = claim_token(c, i);
    to->ids = ids;
    to->n_answer = n;
    *ret_ids = ids;
    return 0;
}

int claim_list_init(struct claim_list *l, const struct claim_llama *claims,
                    size_t n, const struct claim_limits *limits)
{
    int err = 0;

    *l = (struct claim_list){.list = calloc(n + 1, sizeof *l->list),
                             .ids = calloc(n + 1, sizeof *l->ids),
                             .n = n};
    if (l->list == NULL || l->ids == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++)
        err = fill(&claims[i], limits, &l->list[i], &l->ids[i]);
    return err;
}

void claim_list_fini(struct claim_list *l)
{
    for (size_t i = 0; l->ids != NULL && i < l->n; i++)
        free(l->ids[i]);
    free(l->ids);
    free(l->list);
    *l = (struct claim_list){0};
}
