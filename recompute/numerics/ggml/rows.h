/*
 * rows.h - what numerics `ggml` does to a row outside of products: norm, rope,
 * gate, attention of one head.
 *
 * Comes in and goes out: floats; keys and values as the cache holds them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_ROWS_H
#define NUMERICS_GGML_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/ggml/ggml.h"

enum { FLASH_TILE = 64 };

/* out = x / sqrt(mean of x^2 + eps) * w; x^2 summed in double, in order. */
void ggml_rms_norm_ref(const float *x, const float *w, size_t n, float eps,
                       float *out);

/* cos and sin of one position: pair i turns by position * scale^i, the powers
 * as a running product; factors may be NULL. */
struct ggml_turning {
    size_t pairs;
    float step;  /* theta_scale: base^(-2 / dimensions) */
    float scale; /* freq_scale, 1 if there is none */
    const float *factors;
};
void ggml_rope_angles(const struct ggml_turning *t, uint32_t position,
                      float *ret_cos, float *ret_sin);
/* Turns the neighbours x[2i], x[2i + 1], in place. */
void ggml_rope_turn_ref(float *x, size_t pairs, const float *cos,
                        const float *sin);

/* n halves, low byte first. */
void ggml_halves_ref(const float *x, size_t n, uint8_t *ret_halves);

/* out = gate / (1 + e^-gate) * up: whole vectors with vexp, the rest with
 * expf. out may be gate. */
void ggml_swiglu_ref(const float *gate, const float *up, size_t n,
                     unsigned lanes, float *out);

/* One token's queries of the heads that share keys and values, over the cells
 * that it sees. */
struct ggml_head {
    const struct ggml_build *build;
    size_t dim;            /* of the head */
    float scale;           /* 1 / sqrt(dim) */
    bool f16;              /* keys and values are halves, else floats */
    const uint8_t *k, *v;  /* of cell 0 and this head */
    size_t cell_bytes;     /* from cell to cell */
    const uint32_t *cells; /* visible, ascending, at least one */
    size_t n_cells;
    size_t n;       /* queries */
    const float *q; /* n rows of dim floats */
    float *scratch; /* ggml_head_scratch floats */
    float *out;     /* n rows of dim floats */
};

/* Floats of scratch for cells below `cells`, n queries of dim. */
size_t ggml_head_scratch(size_t cells, size_t n, size_t dim);

/* Flash attention off. rows: of the query's stream in the ubatch. */
void ggml_head_plain_ref(const struct ggml_head *h, size_t rows);
/* Flash attention, a cell a step, accumulator of halves; cells from each
 * border on are a chunk of their own, combined at the end. */
struct ggml_borders {
    const uint32_t *cell;
    size_t n;
};
void ggml_head_flash_ref(const struct ggml_head *h,
                         const struct ggml_borders *b);
/* Flash attention in tiles of 64 cells, floats throughout. */
void ggml_head_tiled_ref(const struct ggml_head *h);

#endif
