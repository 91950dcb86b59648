/*
 * cells.h - the cache's books: which cell of a stream holds which position of
 * which sequences. The engine's rules of finding and freeing cells.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_CELLS_H
#define LLAMA_CELLS_H

#include "engine/llama/forward/forward.h"

enum { SEQUENCE_WORDS = LLAMA_SEQUENCES / 64 };

struct cell {
    uint32_t position;
    uint64_t sequences[SEQUENCE_WORDS]; /* bit s: sequence s; none: empty */
};

struct cells {
    struct cell *cell;
    uint32_t n;
    uint32_t used; /* not empty */
    uint32_t head; /* the search starts here */
};

int cells_init(struct cells *c, uint32_t n); /* -ENOMEM */
void cells_fini(struct cells *c);

bool cell_has(const struct cell *c, uint32_t sequence);
bool cell_is_empty(const struct cell *c);
void cells_put(struct cells *c, uint32_t i, uint32_t position,
               uint32_t sequence);
void cells_remove(struct cells *c, uint32_t sequence, uint32_t from,
                  uint32_t to);
/* One past the highest cell in use. */
uint32_t cells_end(const struct cells *c);

/* n empty cells as the engine looks for them, one by one into where(i).
 * -ENOSPC. */
struct wanted_cells {
    uint32_t n;
    uint32_t *at;  /* the first one's place */
    size_t stride; /* bytes from one place to the next */
};
int cells_find(const struct cells *c, const struct wanted_cells *w);

struct llama_cache {
    const struct llama_model *model;
    struct llama_recipe recipe;
    uint32_t streams;
    size_t cell_bytes;   /* keys, or values, of one cell and layer */
    size_t layer_bytes;  /* of all cells of a stream */
    bool f16;            /* as stored: halves whenever flash attention is on */
    struct cells *cells; /* of each stream */
    uint8_t *k, *v;      /* [stream][layer][cell][kv head][dim] */
};

uint32_t cache_stream(const struct llama_cache *c, uint32_t sequence);
uint8_t *cache_at(const struct llama_cache *c, uint8_t *of, uint32_t stream,
                  uint32_t layer);

#endif
