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

#include <stddef.h>
#include <stdint.h>

struct forward;
struct model;
struct sequence;

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
 * Keys and values of one sequence, for up to max_tokens positions (at most the
 * model's context). Belongs to f and ends before it. -EINVAL, -ENOMEM.
 */
int sequence_open(struct forward *f, size_t max_tokens,
                  struct sequence **ret_s);
void sequence_close(struct sequence *s);
size_t sequence_length(const struct sequence *s); /* positions computed */
size_t sequence_capacity(const struct sequence *s);
/* Forgets every position from length on. */
void sequence_cut(struct sequence *s, size_t length);

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

/*
 * One pass over all members. -ERANGE: a token id is not below vocab. -ENOSPC:
 * a sequence is full. -EINVAL: an empty member, or a sequence twice. -ENOMEM.
 * After an error no sequence has grown.
 */
int forward_run(struct forward *f, const struct member *members, size_t n);

#endif
