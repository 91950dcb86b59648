/*
 * batch.h - what goes into one pass of forward.h: the next tokens of some
 * sequences.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_BATCH_H
#define RECOMPUTE_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct sequence;

/* Called for each token and layer of a member that has it, on the caller's
 * thread: row is the layer's output, hidden floats; layer 0 is the embedding,
 * layer i the output of decoder layer i - 1. */
typedef void layer_seen(void *arg, uint32_t layer, size_t position,
                        const float *row);

/* The next n tokens of a sequence. A sequence is in a batch at most once. */
struct member {
    struct sequence *sequence;
    const uint32_t *ids; /* n of them, borrowed for the call */
    size_t n;
    size_t logits_from; /* rows for tokens logits_from..n-1; n: none */
    float *logits;      /* (n - logits_from) rows of vocab floats, written */
    layer_seen *seen;   /* or NULL */
    void *seen_arg;
};

#endif
