/*
 * cells.c - the books of a stream of cells.
 *
 * The search: from the head, or from cell 0 when the head lies more than twice
 * the wanted number beyond the used count; any empty cell is taken, with wrap.
 * Removing lowers the head to the first cell that it empties.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cells_init(struct cells *c, uint32_t n)
{
    memset(c, 0, sizeof *c);
    c->cell = calloc(n, sizeof *c->cell);
    c->n = n;
    return c->cell == NULL ? -ENOMEM : 0;
}

void cells_fini(struct cells *c)
{
    free(c->cell);
    c->cell = NULL;
}

bool cell_has(const struct cell *c, uint32_t sequence)
{
    return (c->sequences[sequence / 64] >> sequence % 64 & 1) != 0;
}

bool cell_is_empty(const struct cell *c)
{
    uint64_t any = 0;

    for (int i = 0; i < SEQUENCE_WORDS; i++)
        any |= c->sequences[i];
    return any == 0;
}

void cells_put(struct cells *c, uint32_t i, uint32_t position,
               uint32_t sequence)
{
    struct cell *cell = &c->cell[i];

    c->used += cell_is_empty(cell);
    memset(cell->sequences, 0, sizeof cell->sequences);
    cell->position = position;
    cell->sequences[sequence / 64] = UINT64_C(1) << sequence % 64;
}

void cells_remove(struct cells *c, uint32_t sequence, uint32_t from,
                  uint32_t to)
{
    uint32_t first = c->n;

    for (uint32_t i = 0; i < c->n; i++) {
        struct cell *cell = &c->cell[i];

        if (!cell_has(cell, sequence) || cell->position < from ||
            cell->position >= to)
            continue;
        cell->sequences[sequence / 64] &= ~(UINT64_C(1) << sequence % 64);
        if (!cell_is_empty(cell))
            continue;
        c->used--;
        if (first == c->n)
            first = i;
    }
    if (first != c->n && first < c->head)
        c->head = first;
}

uint32_t cells_end(const struct cells *c)
{
    uint32_t i = c->n;

    while (i > 0 && cell_is_empty(&c->cell[i - 1]))
        i--;
    return i;
}

int cells_find(const struct cells *c, const struct wanted_cells *w)
{
    uint32_t at = c->head, found = 0;

    if (w->n > c->n - c->used)
        return -ENOSPC;
    if (at > c->used + 2 * (uint64_t)w->n || at >= c->n)
        at = 0;
    while (found < w->n) {
        if (cell_is_empty(&c->cell[at])) {
            uint8_t *place = (uint8_t *)w->at + found * w->stride;

            memcpy(place, &at, sizeof at);
            found++;
        }
        at = at + 1 == c->n ? 0 : at + 1;
    }
    return 0;
}
