/*
 * request.h - what an API request asks a model to do: prompt ids, sampling
 * parameters and stop strings of each of its answers. Used by the worker and
 * by the test engine, so that an honest answer is equal to the bit.
 *
 * Answer k of a request with several prompts and n answers a prompt is answer
 * k % n of prompt k / n; k is its index in the API's answer and the choice in
 * the sampler's counter.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_REQUEST_H
#define RECOMPUTE_REQUEST_H

#include "recompute/generate.h"
#include "store/span.h"

struct api_exchange;
struct template;
struct tokenizer;

/* What a request needs of its model; all borrowed. */
struct request_model {
    const struct tokenizer *tokenizer;
    const struct template *template;
    const struct model_config *config;
};

struct request_prompt {
    uint32_t *ids;
    size_t n_ids;
    struct span echo; /* text put before the answer; empty: none */
    char *echo_text;  /* owns it, if not borrowed from the request */
};

struct request {
    struct request_prompt *prompts;
    size_t n_prompts;
    uint32_t n;          /* answers a prompt */
    uint64_t max_tokens; /* of each answer */
    bool ignore_eos;
    bool logprobs; /* asked for; sampling.n_top alternatives a position */
    struct sampling sampling;
    struct span *stops; /* borrowed from the api_request */
    size_t n_stops;
};

/*
 * Reads the exchange's request by the defaults of its API. seed: what to use
 * where the request has none and samples; NULL: refuse it as unseeded. Returns
 * 0; -ENOTSUP with *ret_reason a word of docs/records.md (unsupported_api,
 * unsupported_parameter, unseeded, no_template); -ENOMEM and errno of
 * encoding. x is borrowed until request_fini; ret_r holds nothing on failure.
 */
int request_init(const struct api_exchange *x, const struct request_model *m,
                 const uint64_t *seed, struct request *ret_r,
                 const char **ret_reason);
void request_fini(struct request *r);

size_t request_answers(const struct request *r);
/* The parameters of answer k for generation_init; pointers into r. */
struct generate request_generate(const struct request *r, size_t k);
const struct request_prompt *request_prompt_of(const struct request *r,
                                               size_t k);

#endif
