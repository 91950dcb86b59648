/*
 * shape_set.h - the batches of llama.cpp, as far as they change bits of a row.
 *
 * Comes in: a model and a recipe. Goes out: for a row of a ubatch, signatures
 * of the kernels that work on it; two ubatches with equal signatures give a row
 * equal bits. And the shapes that one generated token can run under, each with
 * another signature: alone, beside others, among many, ...
 *
 * Signatures come from the rules of numerics/ggml themselves
 * (ggml_kernel_select), asked for each product of the model, so a new weight
 * type or rule needs no change here.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SHAPE_SET_H
#define LLAMA_SHAPE_SET_H

#include "engine/llama/forward/forward.h"
#include "numerics/ggml/product.h"
#include "search/stepper.h"

enum { SHAPE_PRODUCTS = 64, SHAPES = 32 };

struct shape_set {
    const struct llama_recipe *recipe;
    struct ggml_shape body[SHAPE_PRODUCTS], tail[SHAPE_PRODUCTS];
    size_t n_body, n_tail;
    uint32_t head_dim;
    bool by_place; /* a row's kernel depends on its place among many */
    struct batch_shape decode[SHAPES]; /* the likeliest first */
    size_t n_decode;
    bool more; /* there are, which have no room here */
};

/* r and m are borrowed. -ENOSPC: more kinds of products than fit. */
int shape_set_init(struct shape_set *s, const struct llama_model *m,
                   const struct llama_recipe *r);

/* Row `place` of `rows`: of all products, or of those after the row cut. */
uint64_t shape_body(const struct shape_set *s, size_t rows, size_t place);
uint64_t shape_tail(const struct shape_set *s, size_t wanted, size_t place);
/* Attention of a row whose stream has so many in the ubatch. */
uint64_t shape_attention(const struct shape_set *s, size_t stream_rows);
bool shape_tiles(const struct shape_set *s, size_t stream_rows);
/* Flash attention over one token alone in its ubatch may be split. */
bool shape_set_splits(const struct shape_set *s);

#endif
