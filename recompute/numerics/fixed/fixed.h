/*
 * fixed.h - numerics `fixed`: float32 with one written order. A table of
 * kernels for each instruction set; all give the same bits.
 *
 *     kernels_ref.c   the definition (docs/numerics-fixed.md has it in words)
 *     kernels_simd.c  the fast form, compiled over vec_avx2.h and vec_avx512.h
 *     fixed_math.h    exp, log and the RoPE table's functions, one number a
 *                     time: both forms take its steps
 *     panels.c        weights in the order in which the kernels read them
 *     pick.c, tables_*.c  which tables this processor runs, and one by name
 *
 * Matrices W (n outputs, k inputs) lie in panels of 16 outputs:
 *   F32   [panel][i in k][16] float
 *   F16   [panel][i in k][16] half
 *   BF16  [panel][pair of i][16] u32: low half i, high half i + 1 (zero after
 *         the last)
 * in host byte order (little endian; checked in the build). Outputs after n
 * in the last panel are zero. A panel starts every `pitch` bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_FIXED_H
#define NUMERICS_FIXED_H

#include <stddef.h>
#include <stdint.h>

enum { FIXED_PANEL = 16, FIXED_LANES = 16 };

enum fixed_type { FIXED_F32, FIXED_F16, FIXED_BF16 };

struct fixed_panels {
    enum fixed_type type;
    size_t n, k;  /* outputs, inputs */
    size_t pitch; /* bytes from panel to panel */
    const void *data;
};

/* A few rows of X against some panels of W. */
struct fixed_tile {
    const float *x; /* packed: x[i * rows + r] */
    size_t rows;    /* at most tile_rows of the kernels */
    const struct fixed_panels *w;
    size_t first, end; /* panels */
    float *out;        /* out[r * stride + output] */
    size_t stride;     /* floats */
    int go_on;         /* the sums start at out instead of at zero */
};

struct fixed_kernels {
    const char *name;
    size_t tile_rows;
    size_t tile_panels; /* a range of panels is best a multiple of it */
    /* out[r][o] = the sum of x[r][i] * w[o][i], i ascending, each step fused;
     * any NaN is written as FLOAT_NAN, here and in every kernel. */
    void (*tile)(const struct fixed_tile *t);
    /* out = w * (x * (1 / sqrt(sum(x * x) / n + eps))), sum in lanes */
    void (*rmsnorm)(const float *x, const float *w, size_t n, float eps,
                    float *out);
    /* turns (x[i], x[half + i]) by the angle i, in place */
    void (*rope)(float *x, size_t half, const float *cos, const float *sin);
    /* x = exp(x * scale - max(x * scale)), in place; returns its sum in
     * lanes, or FLOAT_NAN */
    float (*softmax)(float *x, size_t n, float scale);
    void (*divide)(float *x, size_t n, float by);
    /* out = gate / (1 + exp(-gate)) * up */
    void (*silu)(const float *gate, const float *up, size_t n, float *out);
    /* x = x + y */
    void (*add)(float *x, const float *y, size_t n);
};

/* By name, or the fastest for NULL. NULL: unknown, or not for this CPU. */
const struct fixed_kernels *fixed_kernels_pick(const char *name);
/* All that this CPU runs, the definition first; ends with NULL. */
const struct fixed_kernels *const *fixed_kernels_all(void);

extern const struct fixed_kernels fixed_kernels_ref;

/* Bytes of one panel of k inputs; a multiple of 64. */
size_t fixed_panel_bytes(enum fixed_type type, size_t k);
/* Brings n <= FIXED_PANEL rows of w->k weights each (as they lie in a file:
 * little endian, any alignment) into one panel. */
void fixed_panel_pack(const struct fixed_panels *w, const uint8_t *const *row,
                      size_t n, void *panel);
/* w[o][i], widened exactly. */
float fixed_panel_weight(const struct fixed_panels *w, size_t o, size_t i);

/* The tree that ends every sum in lanes: 8, 4, 2, 1 apart. */
float fixed_lanes_sum(float lane[FIXED_LANES]);

#endif
