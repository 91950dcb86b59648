/*
 * prefill.h - the ways an engine can have computed a prompt.
 *
 * Comes in: the number of prompt tokens computed, an alphabet, and where other
 * requests may have cut the prompt: with streams a ubatch takes equally many
 * tokens of each, so a prompt ends a ubatch where a shorter neighbour does (a
 * generating one after 1). Goes out: the distinct ways, fewest cuts first:
 * pieces, each with the place of its rows in its ubatch.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PREFILL_H
#define LLAMA_PREFILL_H

#include "search/regime.h"

enum { PREFILL_PIECES = 32 };

struct piece {
    uint32_t n; /* tokens of ours */
    struct regime regime;
};

struct prefill {
    struct piece pieces[PREFILL_PIECES];
    size_t n;
    uint32_t offset;    /* first cell modulo a tile, unified and tiled */
    uint64_t signature; /* of all rows, the cut ones' tail included */
};

struct prefills {
    struct prefill *list;
    size_t n, size;
    bool complete; /* every way is listed, not only the likely ones */
};

/* cuts: ascending, each once. n > 0. -ENOMEM. */
int prefills_init(struct prefills *p, const struct alphabet *a, uint32_t n,
                  const uint32_t *cuts, size_t n_cuts);
void prefills_fini(struct prefills *p);

#endif
