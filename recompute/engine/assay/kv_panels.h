/*
 * kv_panels.h - keys and values of one sequence, in the kernels' order.
 *
 * For each layer and key/value head, both are panels of 16 (kernels.h):
 *   keys    [position / 16][i in head_dim][16]   a matrix positions x head_dim
 *   values  [i / 16][position][16]               a matrix head_dim x positions
 * so that scores and sums of values are tiles like all other products.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KV_PANELS_H
#define KV_PANELS_H

#include "numerics/fixed/fixed.h"

struct model_config;

struct sequence {
    const struct model_config *config;
    size_t length, capacity; /* positions; the capacity a multiple of 16 */
    size_t limit;            /* positions asked for at sequence_open */
    size_t head_floats;      /* of the keys, and of the values, of one head */
    float *keys, *values;
};

/* The first n keys of a head, as a matrix of n outputs. */
struct fixed_panels sequence_keys(const struct sequence *s, size_t layer,
                                  size_t head, size_t n);
/* Its values at positions [from, end), as a matrix of head_dim outputs. */
struct fixed_panels sequence_values(const struct sequence *s, size_t layer,
                                    size_t head, const size_t range[2]);
/* Puts key and value (head_dim floats each) of a head at a position. */
struct kv_slot {
    size_t layer, head, position;
};
void sequence_put(struct sequence *s, struct kv_slot at, const float *key,
                  const float *value);

#endif
