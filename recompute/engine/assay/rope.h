/*
 * rope.h - cosines and sines of rotary position embedding (Su et al.,
 * RoFormer, arXiv 2104.09864; the half-split form of Hugging Face).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROPE_H
#define ROPE_H

#include <stddef.h>

struct model_config;

struct rope_table {
    size_t half;      /* head_dim / 2: numbers a position */
    size_t positions; /* made so far */
    float *freq;      /* half */
    float *cos, *sin; /* [position][half] */
};

/* -ENOMEM. The caller ends t with rope_fini even then. */
int rope_init(const struct model_config *c, struct rope_table *t);
void rope_fini(struct rope_table *t);
/* Makes at least `positions`. -ENOMEM. */
int rope_grow(struct rope_table *t, size_t positions);

#endif
