/*
 * forward.h - token ids to logits: the Llama-family forward pass.
 *
 * Comes in: a batch of members, each some next tokens of one sequence. Goes
 * out: float32 logits for the tokens that asked for them. The bits of a row
 * depend on the model and on the sequence's tokens up to that position, and on
 * nothing else: not on how the tokens were cut into calls, on the other
 * members, on the number of threads or on the instruction set
 * (docs/numerics-fixed.md).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_FORWARD_H
#define RECOMPUTE_FORWARD_H

#include "recompute/batch.h"

struct forward;
struct model;

struct forward_options {
    unsigned threads;    /* 0: one for each CPU this process may use */
    const char *kernels; /* "ref", "avx2", "avx512"; NULL: the fastest here */
};

/*
 * m is borrowed until forward_close. -ENOTSUP: these kernels do not run on
 * this CPU. -EDOM: the floating-point environment is not the default one
 * (rounding, flush to zero). -ENOMEM. o may be NULL.
 */
int forward_open(const struct model *m, const struct forward_options *o,
                 struct forward **ret_f);
void forward_close(struct forward *f);
const struct model *forward_model(const struct forward *f);
const char *forward_kernels(const struct forward *f); /* name in use */

/*
 * One pass over all members. -ERANGE: a token id is not below vocab. -ENOSPC:
 * a sequence is full. -EINVAL: an empty member, or a sequence twice. -ENOMEM.
 * After an error no sequence has grown.
 */
int forward_run(struct forward *f, const struct member *members, size_t n);

#endif
