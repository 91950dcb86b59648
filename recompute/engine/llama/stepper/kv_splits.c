/*
 * kv_splits.c - cells of one sequence, and splits of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/stepper/kv_splits.h"

#include "engine/llama/forward/constants.h"
#include "engine/llama/forward/kv_split.h"

enum { SIZES = 6 }; /* of parts, that are tried */

uint32_t cell_of(const struct cell_layout *c, size_t position)
{
    size_t fresh = position - c->n_prefix;

    if (c->offset == 0)
        return c->first + (uint32_t)position;
    if (fresh < c->offset)
        return (uint32_t)fresh;
    return c->room + (uint32_t)(position - c->offset);
}

/* Cell number k, from 0 on, of those that the token at `position` sees. */
static uint32_t seen_cell(const struct cell_layout *c, size_t position,
                          size_t k)
{
    size_t before = position + 1 - c->n_prefix;

    if (c->offset == 0)
        return c->first + (uint32_t)k;
    if (before > c->offset)
        before = c->offset;
    if (k < before)
        return (uint32_t)k;
    return c->room + (uint32_t)(k - before);
}

bool kv_split_hidden(const struct shape_set *s)
{
    const struct llama_recipe *r = s->recipe;

    return r->unified && r->sequences > 1 && shape_set_splits(s);
}

struct kv_split kv_split_own(const struct shape_set *s, size_t position)
{
    uint32_t n_kv = llama_kv_padded(s->recipe, (uint32_t)position + 1);
    uint32_t part = llama_kv_part(s->recipe, n_kv);

    return (struct kv_split){part, part};
}

/* Hidden split number k, from 0 on: each cell as a border, and each distance of
 * the next one, where more than two threads make that matter. */
static bool hidden(const struct shape_set *s, const struct cell_layout *c,
                   size_t position, size_t k, struct kv_split *ret_split)
{
    const struct llama_recipe *r = s->recipe;
    size_t sizes = 1;
    size_t at;
    uint32_t n_kv;

    if (r->threads > 2)
        sizes = (r->cells - LLAMA_KV_SPLIT_FROM) / LLAMA_KV_PAD + 1;
    if (sizes > SIZES)
        sizes = SIZES;
    at = k / sizes + 1;
    if (at > position)
        return false;
    n_kv = LLAMA_KV_SPLIT_FROM + LLAMA_KV_PAD * (uint32_t)(k % sizes);
    *ret_split =
        (struct kv_split){seen_cell(c, position, at), llama_kv_part(r, n_kv)};
    return true;
}

bool kv_split_at(const struct shape_set *s, const struct cell_layout *c,
                 size_t position, size_t k, struct kv_split *ret_split)
{
    if (k == 0) {
        *ret_split = kv_split_own(s, position);
        return true;
    }
    if (!kv_split_hidden(s))
        return false;
    if (k == 1) {
        *ret_split = (struct kv_split){0, 0};
        return true;
    }
    return hidden(s, c, position, k - 2, ret_split);
}

void kv_split_select(const struct shape_set *s, const struct kv_split *split,
                     struct llama_selection_room *room,
                     struct llama_selection *selection)
{
    if (split->border == 0 || selection->rows != 1)
        return;
    for (uint32_t i = 0; i + 1 < s->recipe->threads; i++)
        room->borders[selection->n_borders++] = split->border + i * split->part;
    selection->borders = room->borders;
}
