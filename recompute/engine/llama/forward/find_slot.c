/*
 * find_slot.c - cells for the tokens of a ubatch, and the kernels that a ubatch
 * chooses.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/cells.h"
#include "engine/llama/forward/kv_split.h"

int llama_find_slot(const struct llama_cache *c, struct llama_token *t,
                    size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        uint32_t stream = cache_stream(c, t[i].sequence);
        struct wanted_cells w = {0, &t[i].cell, sizeof *t};
        int rc;

        for (end = i; end < n && cache_stream(c, t[end].sequence) == stream;)
            end++;
        w.n = (uint32_t)(end - i);
        rc = cells_find(&c->cells[stream], &w);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void llama_take_cells(struct llama_cache *c, const struct llama_token *t,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct cells *cells = &c->cells[cache_stream(c, t[i].sequence)];

        cells_put(cells, t[i].cell, t[i].position, t[i].sequence);
        cells->head = t[i].cell + 1;
    }
}

/* Streams stand together in a ubatch, each with as many rows. */
static uint32_t stream_rows(const struct llama_cache *c,
                            const struct llama_part *p)
{
    uint32_t streams = 1;

    for (size_t i = 1; i < p->n_all; i++)
        streams += cache_stream(c, p->tokens[i].sequence) !=
                   cache_stream(c, p->tokens[i - 1].sequence);
    return (uint32_t)p->n_all / streams;
}

/* The cells that the engine's attention runs over, once `t` is stored. */
static uint32_t padded_cells(const struct llama_cache *c,
                             const struct llama_token *t)
{
    const struct cells *cells = &c->cells[cache_stream(c, t->sequence)];
    uint32_t end = cells_end(cells);

    if (end < t->cell + 1)
        end = t->cell + 1;
    return llama_kv_padded(&c->recipe, end);
}

void llama_select_kernels(const struct llama_cache *c,
                          const struct llama_part *p,
                          struct llama_selection_room *room,
                          struct llama_selection *ret_selection)
{
    struct llama_selection selection = {.rows = (uint32_t)p->n_all,
                                        .first = (uint32_t)p->first,
                                        .stream_rows = stream_rows(c, p),
                                        .borders = room->borders};
    uint32_t n_kv, part;

    for (size_t i = 0; i < p->n_all; i++) {
        selection.wanted += p->tokens[i].wanted;
        selection.wanted_first += i < p->first && p->tokens[i].wanted;
    }
    n_kv = p->n_all == 1 ? padded_cells(c, &p->tokens[0]) : 0;
    part = llama_kv_part(&c->recipe, n_kv);
    for (uint32_t at = part; part != 0 && at < n_kv; at += part)
        room->borders[selection.n_borders++] = at;
    *ret_selection = selection;
}
