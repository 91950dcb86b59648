/*
 * request.h - what an API request asks llama-server to do: prompt ids and
 * sampling of each of its answers, with the server's own defaults.
 *
 * A parameter that the server does not read changes nothing, as there. One
 * that changes the prompt and is not known here makes the request unusable;
 * one that changes only which token is chosen leaves the logits as they are:
 * then `choice` says that the tokens cannot be chosen again, while every
 * logprob can still be recomputed from the claimed tokens.
 *
 * Answer k of several prompts with n answers each is answer k % n of prompt
 * k / n; its seed is the request's plus k % n.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_REQUEST_H
#define LLAMA_REQUEST_H

#include "engine/llama/deployment/recipe.h"
#include "engine/llama/reply.h"
#include "engine/llama/sampler/sampler.h"
#include "store/span.h"

struct api_request;
struct llama_chat;
struct llama_vocab;

enum llama_choice_known {
    LLAMA_CHOICE_KNOWN,       /* greedy, or a seed and a chain that is ours */
    LLAMA_CHOICE_UNSEEDED,    /* the server drew its seed: only whether a token
                               * was possible can be said */
    LLAMA_CHOICE_UNSUPPORTED, /* `parameter` acts on the choice, unknown here */
};

struct llama_prompt {
    uint32_t *ids;
    size_t n_ids;
};

struct llama_request {
    struct llama_prompt *prompts;
    size_t n_prompts;
    uint32_t n;          /* answers a prompt */
    uint64_t max_tokens; /* of an answer, at least 1; UINT64_MAX: no limit but
                          * the context */
    uint32_t n_probs;    /* logprobs a token; 0: none asked for. They decide
                          * the last bits (logprob.h) */
    bool after_sampling; /* they are probabilities after the chain */
    enum llama_choice_known choice;
    struct span parameter; /* of UNSUPPORTED; borrowed from the api_request */
    struct llama_sampling sampling; /* of answer 0 */
    struct llama_bias *biases;      /* owned; sampling points at them */
    struct span *stops;             /* owned list, texts borrowed */
    size_t n_stops;
    enum llama_reply_form form; /* of the answer */
};

/* What a request needs of its model; all borrowed. chat may be NULL: requests
 * of messages are refused. */
struct llama_request_model {
    const struct llama_vocab *text;
    const struct llama_chat *chat;
    bool draws_single; /* of the recipe, sampler.h */
    bool own_samplers; /* what a request is silent on is not the default */
};

/* Of a model served as the recipe has it: a template that the server was given
 * by flags is not known, and neither is what it made of messages. */
struct llama_request_model
llama_request_model_of(const struct llama_vocab *text,
                       const struct llama_chat *chat,
                       const struct recipe *recipe);

/*
 * Reads the request of this API (a name of store/dialect.h). 0; -ENOTSUP with
 * *ret_reason a word of docs/records.md (unsupported_api,
 * unsupported_parameter, no_template); -ENOMEM; errno of encoding. r is
 * borrowed until llama_request_fini; *ret_r holds nothing on failure.
 */
int llama_request_init(const char *api, const struct api_request *r,
                       const struct llama_request_model *m,
                       struct llama_request *ret_r, const char **ret_reason);
void llama_request_fini(struct llama_request *r);

size_t llama_request_answers(const struct llama_request *r);
const struct llama_prompt *llama_request_prompt(const struct llama_request *r,
                                                size_t k);
/* Of answer k, for llama_sampler_open; biases point into r. */
struct llama_sampling llama_request_sampling(const struct llama_request *r,
                                             size_t k);
#endif
