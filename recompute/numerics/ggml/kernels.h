/*
 * kernels.h - the kernels of numerics `ggml` for an instruction set of this
 * machine. All give the bits of the reference, whichever build is replayed:
 * the build's lanes are the order of the sums, not the width of our vectors.
 *
 *     ggml_kernels ─┬─ floats[lanes]   products of float types, the gate
 *                   ├─ pairs           BF16 by VDPBF16PS
 *                   ├─ blocks, columns, k_quants   quantised weights
 *                   ├─ rows            activations rounded, norm, RoPE
 *                   └─ heads[lanes]    attention of one key/value head
 *
 * Each part is a source of its own, compiled by the build for an instruction
 * set and, where the order of its sums depends on them, for the lanes of the
 * replayed build (meson.build has the list; tables_x86.c puts them together).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_KERNELS_H
#define NUMERICS_GGML_KERNELS_H

#include "numerics/ggml/product.h"
#include "numerics/ggml/rows.h"

typedef void ggml_tile_fn(enum ggml_kernel kernel, const struct ggml_tile *t);

struct ggml_floats {
    ggml_tile_fn *tile;
    /* rows.h has each function that has no words here. */
    void (*swiglu)(const float *gate, const float *up, size_t n, float *out);
};

struct ggml_rows {
    void (*act_round)(enum ggml_act a, const float *x, size_t k, void *ret_row);
    void (*rms_norm)(const float *x, const float *w, size_t n, float eps,
                     float *out);
    void (*rope_turn)(float *x, size_t pairs, const float *cos,
                      const float *sin);
    void (*halves)(const float *x, size_t n, uint8_t *ret_halves);
};

struct ggml_heads {
    void (*plain)(const struct ggml_head *h, size_t rows);
    void (*flash)(const struct ggml_head *h, const struct ggml_borders *b);
    void (*tiled)(const struct ggml_head *h);
};

/* Lanes of the replayed build: 8 or 16. */
enum { GGML_LANES_8, GGML_LANES_16, GGML_LANES_N };

struct ggml_kernels {
    const char *name;
    const struct ggml_floats *floats[GGML_LANES_N];
    ggml_tile_fn *pairs, *blocks, *columns, *k_quants;
    const struct ggml_rows *rows;
    const struct ggml_heads *heads[GGML_LANES_N];
};

/* A product, by the kernel for its weights and for the replayed build. */
void ggml_tile(const struct ggml_kernels *k, enum ggml_kernel kernel,
               const struct ggml_tile *t);
const struct ggml_floats *ggml_floats_of(const struct ggml_kernels *k,
                                         const struct ggml_build *b);
const struct ggml_heads *ggml_heads_of(const struct ggml_kernels *k,
                                       const struct ggml_build *b);

/* What this machine runs, the fastest last, NULL at the end. */
const struct ggml_kernels *const *ggml_kernels_all(void);
/* NULL: the fastest. Returns NULL if the name does not run here. */
const struct ggml_kernels *ggml_kernels_pick(const char *name);

extern const struct ggml_kernels ggml_kernels_ref;

#endif
