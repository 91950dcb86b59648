/*
 * regime.h - the hidden choices of an engine's batch, as far as they change
 * bits.
 *
 * Comes in: a model and a recipe. Goes out: for a row of a ubatch, a signature
 * of the kernels that work on it; two ubatches with equal signatures give a
 * row equal bits. And the list of distinct regimes that one generated token
 * can run under: alone, beside others, among many, ...
 *
 * Signatures come from the rules of numerics/ggml themselves
 * (ggml_kernel_select), asked for each product of the model, so a new weight
 * type or rule needs no change here. SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_REGIME_H
#define LLAMA_REGIME_H

#include "engine/llama/forward/forward.h"
#include "numerics/ggml/product.h"

enum { REGIME_PRODUCTS = 64, REGIMES = 32 };

/* A place in a ubatch: choice.first of choice.rows, and so on. */
struct regime {
    uint32_t rows, first;
    uint32_t wanted, wanted_first;
    uint32_t stream_rows;
};

struct alphabet {
    const struct llama_recipe *recipe;
    struct ggml_shape body[REGIME_PRODUCTS], tail[REGIME_PRODUCTS];
    size_t n_body, n_tail;
    uint32_t head_dim;
    bool places; /* a row's kernel depends on its place among many */
    struct regime decode[REGIMES]; /* the likeliest first */
    size_t n_decode;
};

/* r and m are borrowed. -ENOSPC: more kinds of products than fit. */
int alphabet_init(struct alphabet *a, const struct llama_model *m,
                  const struct llama_recipe *r);

/* Row `place` of `rows`: of all products, or of those after the row cut. */
uint64_t alphabet_body(const struct alphabet *a, size_t rows, size_t place);
uint64_t alphabet_tail(const struct alphabet *a, size_t wanted, size_t place);
/* Attention of a row whose stream has so many in the ubatch. */
uint64_t alphabet_attention(const struct alphabet *a, size_t stream_rows);
bool alphabet_tiles(const struct alphabet *a, size_t stream_rows);
/* Flash attention over one token alone in its ubatch is cut into chunks from
 * this many padded cells on; 0: never. */
uint32_t alphabet_split_from(const struct alphabet *a);

uint64_t signature_mix(uint64_t h, uint64_t v);

#endif
