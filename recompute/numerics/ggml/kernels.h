/*
 * kernels.h - the kernels of numerics `ggml` for an instruction set of this
 * machine. All give the bits of the reference, whichever build is replayed:
 * the build's lanes are the order of the sums, not the width of our vectors.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_KERNELS_H
#define NUMERICS_GGML_KERNELS_H

#include "numerics/ggml/product.h"
#include "numerics/ggml/rows.h"

struct ggml_kernels {
    const char *name;
    void (*tile)(enum form form, const struct ggml_tile *t);
    void (*act_round)(enum act a, const float *x, size_t k, void *ret_row);
    void (*rms_norm)(const float *x, const float *w, size_t n, float eps,
                     float *out);
    void (*swiglu)(const float *gate, const float *up, size_t n, unsigned lanes,
                   float *out);
    void (*rope_turn)(float *x, size_t pairs, const float *cos,
                      const float *sin);
    void (*halves)(const float *x, size_t n, uint8_t *ret_halves);
    void (*head_plain)(const struct head *h, size_t rows);
    void (*head_flash)(const struct head *h, const struct borders *b);
    void (*head_tiled)(const struct head *h);
};

/* What this machine runs, the fastest last, NULL at the end. */
const struct ggml_kernels *const *ggml_kernels_all(void);
/* NULL: the fastest. Returns NULL if the name does not run here. */
const struct ggml_kernels *ggml_kernels_pick(const char *name);

extern const struct ggml_kernels ggml_kernels_ref;

#endif
