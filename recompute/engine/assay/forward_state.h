/*
 * forward_state.h - the state of one forward pass: which rows there are, and
 * the memory they pass through. Private to forward.c and attention.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FORWARD_STATE_H
#define FORWARD_STATE_H

#include "base/pool.h"
#include "engine/assay/rope.h"
#include "engine/assay/weights.h"
#include "numerics/fixed/fixed.h"

struct sequence;

/* One token of the batch. */
struct row {
    struct sequence *sequence;
    size_t position;
    uint32_t id;
};

/* What one thread does of attention: some (token, query head) pairs of one
 * member that share a key/value head. */
struct attend {
    size_t first_row; /* the member's, in the batch */
    size_t kv_head;
    size_t first, n; /* pairs; pair i is token i / group, head i % group */
};

struct forward {
    const struct model *model;
    const struct fixed_kernels *kernels;
    struct pool *pool;
    struct rope_table rope;
    float attend_scale;

    /* Grown to the largest batch so far; rows of the named widths. */
    size_t rows_room, attend_room, scratch_room, logits_room;
    struct row *row;
    float *x, *h;   /* hidden: the stream, and what is added to it */
    float *qkv;     /* q_width + 2 * kv_width */
    float *mixed;   /* q_width: attention's result */
    float *gate_up; /* 2 * ffn */
    float *act;     /* ffn */
    float *packed;  /* the widest input of a product */
    float *logits;  /* vocab, for LOGIT_ROWS rows */
    struct attend *attend;
    float *scratch; /* scratch_room floats a thread */
    size_t n_rows, n_attend;
};

/* Grows *p to n elements of `size` bytes; keeps nothing. -ENOMEM. */
int room_for(void *p, size_t n, size_t size);

#endif
