/*
 * answers.h - an exchange with llama-server as claims to hold against logits.
 *
 * Comes in: an exchange as store/dialect reads it, and what its request needs
 * of its model. Goes out: one claim for each answer, with its prompt ids, how
 * it samples and what was cached, as far as the wire tells.
 *
 * A request whose prompt this room cannot make (unknown template, tools, ...)
 * still has its logprobs: with a plan, which names the prompt's tokens, they
 * are checked; `reason` stays and says that the prompt itself was not.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_ANSWERS_H
#define LLAMA_ANSWERS_H

#include "engine/llama/claim/claim.h"
#include "engine/llama/request.h"

struct api_exchange;

struct llama_answers {
    struct claim_llama *claims;
    struct llama_sampling *samplings;
    size_t n;
    struct llama_request request; /* zeros if reason is set */
    const char *reason;           /* word of docs/records.md, or NULL */
};

/* x and *m are borrowed until llama_answers_fini. An error answer, or one
 * without choices, has no claims; one that an error cut off has. -ENOMEM, or
 * the errno of encoding. */
int llama_answers_init(const struct api_exchange *x,
                       const struct llama_request_model *m,
                       struct llama_answers *ret_a);
void llama_answers_fini(struct llama_answers *a);

#endif
