/*
 * ubatch_split.c - cuts a batch into ubatches.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/ubatch_split.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/forward/forward.h"

int ubatch_split_init(struct ubatch_split *s, const struct llama_recipe *recipe,
                      const struct llama_token *batch, size_t n)
{
    *s = (struct ubatch_split){
        .recipe = recipe, .batch = batch, .n = n, .left = n};
    s->used = calloc(n > 0 ? n : 1, sizeof *s->used);
    s->next = calloc(recipe->sequences, sizeof *s->next);
    if (s->used == NULL || s->next == NULL) {
        ubatch_split_fini(s);
        return -ENOMEM;
    }
    return 0;
}

void ubatch_split_fini(struct ubatch_split *s)
{
    free(s->used);
    free(s->next);
    *s = (struct ubatch_split){0};
}

static size_t next_simple(struct ubatch_split *s, size_t *ret_places)
{
    size_t most = s->recipe->n_ubatch;
    size_t n = s->left < most ? s->left : most;

    for (size_t i = 0; i < n; i++)
        ret_places[i] = s->n - s->left + i;
    s->left -= n;
    return n;
}

/* The next unused place of a sequence at or after `at`; n: none. */
static size_t seek(const struct ubatch_split *s, uint32_t sequence, size_t at)
{
    while (at < s->n && (s->used[at] || s->batch[at].sequence != sequence))
        at++;
    return at;
}

/* The run of streams that go together: numbers first..first + count - 1. */
static uint32_t gather(const struct ubatch_split *s, uint32_t *ret_first)
{
    uint32_t count = 0;

    for (size_t i = 0; i < s->n && count <= s->recipe->n_ubatch; i++) {
        uint32_t q = s->batch[i].sequence;

        if (s->used[i])
            continue;
        if (count == 0)
            *ret_first = q;
        if (q == *ret_first + count)
            count++;
    }
    return count;
}

/* Tokens each of the streams gives. */
static size_t depth_of(const struct ubatch_split *s, uint32_t first,
                       uint32_t count)
{
    size_t depth = s->recipe->n_ubatch / count;

    if (depth == 0)
        depth = 1;
    for (uint32_t q = first; q < first + count; q++) {
        size_t has = 0;
        size_t at = seek(s, q, s->next[q]);

        while (at < s->n && has < depth) {
            has++;
            at = seek(s, q, at + 1);
        }
        depth = has;
    }
    return depth;
}

static size_t next_equal(struct ubatch_split *s, size_t *ret_places)
{
    uint32_t first = 0;
    uint32_t count = gather(s, &first);
    size_t depth = depth_of(s, first, count), out = 0;

    for (uint32_t q = first; q < first + count; q++) {
        size_t at = s->next[q];

        for (size_t i = 0; i < depth; i++) {
            at = seek(s, q, at);
            s->used[at] = true;
            ret_places[out++] = at++;
        }
        s->next[q] = at;
    }
    s->left -= out;
    return out;
}

size_t ubatch_split_next(struct ubatch_split *s, size_t *ret_places)
{
    if (s->left == 0)
        return 0;
    return s->recipe->unified ? next_simple(s, ret_places)
                              : next_equal(s, ret_places);
}
