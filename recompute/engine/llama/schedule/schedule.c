/*
 * schedule.c - cuts a batch into ubatches.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/forward/forward.h"

int schedule_init(struct schedule *s, const struct llama_token *batch, size_t n,
                  const struct schedule *how)
{
    *s = (struct schedule){.batch = batch,
                           .n = n,
                           .unified = how->unified,
                           .n_ubatch = how->n_ubatch,
                           .sequences = how->sequences,
                           .left = n};
    s->used = calloc(n > 0 ? n : 1, sizeof(*s->used));
    s->next = calloc(s->sequences, sizeof(*s->next));
    if (!s->used || !s->next) {
        schedule_fini(s);
        return -ENOMEM;
    }
    return 0;
}

void schedule_fini(struct schedule *s)
{
    free(s->used);
    free(s->next);
    *s = (struct schedule){0};
}

static size_t next_simple(struct schedule *s, size_t *ret_places)
{
    size_t n = s->left < s->n_ubatch ? s->left : s->n_ubatch;

    for (size_t i = 0; i < n; i++)
        ret_places[i] = s->n - s->left + i;
    s->left -= n;
    return n;
}

/* The next unused place of a sequence at or after *at; n: none. */
static size_t seek(const struct schedule *s, uint32_t sequence, size_t at)
{
    while (at < s->n && (s->used[at] || s->batch[at].sequence != sequence))
        at++;
    return at;
}

/* The run of streams that go together: numbers first..first + count - 1. */
static uint32_t gather(const struct schedule *s, uint32_t *ret_first)
{
    uint32_t count = 0;

    for (size_t i = 0; i < s->n && count <= s->n_ubatch; i++) {
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
static size_t depth_of(const struct schedule *s, uint32_t first, uint32_t count)
{
    size_t depth = s->n_ubatch / count;

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

static size_t next_equal(struct schedule *s, size_t *ret_places)
{
    uint32_t first = 0;
    size_t out = 0;

    uint32_t count = gather(s, &first);
    size_t depth = depth_of(s, first, count);
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

size_t schedule_next(struct schedule *s, size_t *ret_places)
{
    if (s->left == 0)
        return 0;
    return s->unified ? next_simple(s, ret_places) : next_equal(s, ret_places);
}
