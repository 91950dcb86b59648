/*
 * pass.h - what one pass over a ubatch works with.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PASS_H
#define LLAMA_PASS_H

#include "engine/llama/forward/cells.h"
#include "engine/llama/forward/tensors.h"
#include "numerics/ggml/kernels.h"

enum { ACTS = ACT_Q8K + 1 };

/* The cells that a token sees, ascending. */
struct view {
    const uint32_t *cells;
    size_t n;
};

struct llama_run {
    const struct llama_model *model;
    const struct ggml_kernels *kernels;
    struct pool *pool;
    unsigned threads;

    /* Room for `rows` tokens; floats unless said. */
    size_t rows;
    float *x, *normed;  /* hidden */
    float *q, *out;     /* heads * dim */
    float *k, *v;       /* kv heads * dim */
    float *gate, *up;   /* ffn */
    float *cos, *sin;   /* rope_dim / 2 */
    uint8_t *act[ACTS]; /* rounded rows; NULL until one is needed */
    struct view *view;
    uint32_t *wanted; /* numbers of rows whose logits are wanted */

    uint32_t *seen; /* what the views point into */
    size_t seen_n;
    float *scratch; /* of each thread */
    size_t scratch_n;
};

/* One ubatch being run. */
struct pass {
    struct llama_run *run;
    struct llama_cache *cache;
    const struct llama_token *token;
    size_t n;
    const struct llama_selection *selection;
    size_t n_wanted;
};

/* A product of some rows: rows of the engine's, our first one's place. */
struct product {
    const struct matrix *w;
    float *out; /* stride w->m */
};
struct placed {
    size_t n;           /* rows of ours */
    size_t rows, first; /* where the engine had them */
    bool each;          /* each at `first` of its own */
};

/* Rounds n rows of k floats for the products and computes them. */
void run_products(struct pass *p, const float *x, const struct product *list,
                  size_t n_list, const struct placed *at);
void run_rows(struct pass *p, void (*row)(struct pass *, size_t), size_t n);

/* Before the tokens have their cells: room for the views. -ENOMEM. After:
 * the views. */
int run_views_room(struct pass *p);
void run_views(struct pass *p);
/* out = attention of q over layer l's cells. */
void run_attention(struct pass *p, uint32_t layer);

#endif
