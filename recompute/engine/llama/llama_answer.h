/*
 * llama_answer.h - one answer of llama-server while it is recomputed: rows of
 * logits in, tokens with their logprobs and the text out.
 *
 * With a slot request of the engine's feed, the answer goes on only while the
 * token that would have been chosen is the one that the engine fed next.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_ANSWER_H
#define LLAMA_ANSWER_H

#include "base/arena.h"
#include "engine/llama/reply.h"
#include "engine/llama/schedule/feed.h"
#include "store/job.h"

struct deployed;
struct llama_request;
struct llama_sampler;
struct rated;

struct llama_answer {
    const struct deployed *d; /* borrowed */
    const struct llama_request *request;
    size_t k;                       /* its index among the request's answers */
    const struct slot_request *ran; /* borrowed; NULL: it runs alone */
    struct llama_reply reply;
    /* From its first step until it has ended; scratch: vocab each. */
    struct llama_sampler *sampler;
    float *places;
    struct rated *rated;
    struct result_candidate *tokens; /* chosen, n */
    struct result_candidate *top;    /* n_top a token */
    size_t n, n_top, room;
    bool ended;
    const char *finish; /* "": it did not come to an end of its own */
};

/* -ENOMEM. */
int llama_answer_init(struct llama_answer *a, const struct deployed *d,
                      const struct llama_request *request, size_t k);
void llama_answer_fini(struct llama_answer *a);

/* The logits of its next step. -EDOM: one is NaN. -ENOMEM. */
int llama_answer_take(struct llama_answer *a, const float *logits);
/* Runs it to its end as if the engine did nothing else; *runs is moved on by
 * one a token step. Errors of solo_run. */
int llama_answer_alone(struct llama_answer *a, uint64_t *runs);

/* Bytes of candidates stay the model's; all else is copied to the arena. */
int llama_answer_finish(struct llama_answer *a, struct arena *arena,
                        struct result_choice *ret_c);

#endif
