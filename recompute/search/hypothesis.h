/*
 * hypothesis.h - how one step of an answer can have run: in a batch of which
 * shape, and, where its row was alone, with which split of its keys.
 *
 * Comes in: a stepper's shapes and splits, and what the step before ran under.
 * Goes out: number i of the hypotheses, the likeliest first:
 *
 *   0              as the step before: batches change seldom
 *   1 .. n_shapes  each shape, with the split that was last seen
 *   from there on  each split there can have been, where splits are hidden
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_HYPOTHESIS_H
#define SEARCH_HYPOTHESIS_H

#include "search/stepper.h"

struct hypothesis {
    unsigned shape; /* of the stepper's */
    struct kv_split split;
};

/* What a step follows. */
struct hypothesis_before {
    struct hypothesis ran; /* the step before */
    struct kv_split split; /* of the last step whose row was alone */
};

/* Of the step whose row is at this position; false: there are no more. There
 * are n_shapes + 1 at least. */
bool hypothesis_at(const struct stepper *s, size_t position,
                   const struct hypothesis_before *before, size_t i,
                   struct hypothesis *ret_h);
/* Both run the same kernels. */
bool hypothesis_same(const struct stepper *s, const struct hypothesis *a,
                     const struct hypothesis *b);

#endif
