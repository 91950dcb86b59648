/*
 * request.h - a request being read: one table of keys an API, one reader a
 * type of key. What no row names goes to api_request.others.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_REQUEST_H
#define STORE_DIALECT_REQUEST_H

#include "dialect/reader/json.h"
#include "store/api.h"

struct request_build {
    struct dialect_memory *m;
    struct api_request *r;
    const json_t *object; /* whose keys are being read */
    const char *why;      /* static; the first thing not of this API */
};

struct request_key;

/* Reads a value that is not null; false: it is not of the key's type. */
typedef bool (*request_reader)(struct request_build *b, const json_t *value,
                               const struct request_key *key);

struct request_key {
    const char *name; /* NULL ends a table */
    request_reader read;
    size_t offset;  /* of the member in api_request */
    double neutral; /* for read_neutral */
};

/* Reads every key of object; prefix ("sampling_params.") goes before the name
 * of one that lands in others. */
void request_read(struct request_build *b, const json_t *object,
                  const struct request_key *keys, const char *prefix);
/* Adds a name to others unless it is there; prefix and name are copied. More
 * than API_OTHERS_MAX are a complaint. */
void request_other(struct request_build *b, const char *prefix,
                   struct span name);
void request_bad(struct request_build *b, const char *why);

/* Readers. Those with a member write it at offset. */
bool read_ignored(struct request_build *b, const json_t *v,
                  const struct request_key *k); /* changes no token */
bool read_neutral(struct request_build *b, const json_t *v,
                  const struct request_key *k); /* equal to neutral only */
bool read_text(struct request_build *b, const json_t *v,
               const struct request_key *k); /* struct span */
bool read_flag(struct request_build *b, const json_t *v,
               const struct request_key *k); /* bool */
bool read_number(struct request_build *b, const json_t *v,
                 const struct request_key *k); /* struct api_number */
bool read_count(struct request_build *b, const json_t *v,
                const struct request_key *k); /* uint32_t */
bool read_max_tokens(struct request_build *b, const json_t *v,
                     const struct request_key *k); /* below 0: no limit */
bool read_seed(struct request_build *b, const json_t *v,
               const struct request_key *k);
bool read_stops(struct request_build *b, const json_t *v,
                const struct request_key *k);
bool read_top_count(struct request_build *b, const json_t *v,
                    const struct request_key *k); /* sets logprobs as well */
bool read_top_logprobs(struct request_build *b, const json_t *v,
                       const struct request_key *k); /* does not */
bool read_biases(struct request_build *b, const json_t *v,
                 const struct request_key *k); /* both forms of logit_bias */
bool read_no_tools(struct request_build *b, const json_t *v,
                   const struct request_key *k); /* "none", "auto" */
bool read_plain_format(struct request_build *b, const json_t *v,
                       const struct request_key *k); /* {"type":"text"} */

/* Prompts (prompt.c). */
bool read_prompts(struct request_build *b, const json_t *v,
                  const struct request_key *k); /* texts, ids, lists of them */
bool read_messages(struct request_build *b, const json_t *v,
                   const struct request_key *k);
bool read_system(struct request_build *b, const json_t *v,
                 const struct request_key *k); /* goes before the messages */

/* Rows that the OpenAI look-alikes share. */
#define MEMBER(m) offsetof(struct api_request, m)
#define SAMPLING_KEYS                                                       \
    {"temperature", read_number, MEMBER(temperature), 0},                   \
        {"top_p", read_number, MEMBER(top_p), 0},                           \
        {"top_k", read_number, MEMBER(top_k), 0},                           \
        {"min_p", read_number, MEMBER(min_p), 0},                           \
        {"repetition_penalty", read_number, MEMBER(repeat_penalty), 0},     \
        {"presence_penalty", read_number, MEMBER(presence_penalty), 0},     \
        {"frequency_penalty", read_number, MEMBER(frequency_penalty), 0},   \
        {"repeat_last_n", read_number, MEMBER(repeat_last_n), 0},           \
        {"logit_bias", read_biases, 0, 0}, {"n", read_count, MEMBER(n), 0}, \
        {"seed", read_seed, 0, 0}, {"stop", read_stops, 0, 0},              \
        {"ignore_eos", read_flag, MEMBER(ignore_eos), 0},                   \
        {"min_tokens", read_neutral, 0, 0},                                 \
        {"skip_special_tokens", read_neutral, 0, 1},                        \
        {"spaces_between_special_tokens", read_neutral, 0, 1},              \
        {"include_stop_str_in_output", read_neutral, 0, 0},                 \
        {"use_beam_search", read_neutral, 0, 0},                            \
    {                                                                       \
        "prompt_logprobs", read_ignored, 0, 0                               \
    }
#define OPENAI_KEYS                                                           \
    {"model", read_text, MEMBER(model), 0},                                   \
        {"stream", read_flag, MEMBER(streamed), 0},                           \
        {"stream_options", read_ignored, 0, 0}, {"user", read_ignored, 0, 0}, \
        {"metadata", read_ignored, 0, 0}, {"store", read_ignored, 0, 0},      \
        {"service_tier", read_ignored, 0, 0},                                 \
        {"safety_identifier", read_ignored, 0, 0},                            \
        {"prompt_cache_key", read_ignored, 0, 0},                             \
        {"request_id", read_ignored, 0, 0}, {"rid", read_ignored, 0, 0},      \
        {"priority", read_ignored, 0, 0},                                     \
        {"return_token_ids", read_ignored, 0, 0},                             \
        {"return_tokens_as_token_ids", read_ignored, 0, 0},                   \
        {"return_prompt_text", read_ignored, 0, 0},                           \
        {"cache_salt", read_ignored, 0, 0},                                   \
        {"cache_prompt", read_ignored, 0, 0},                                 \
        {"timings_per_token", read_ignored, 0, 0},                            \
        {"return_progress", read_ignored, 0, 0},                              \
        {"id_slot", read_ignored, 0, 0},                                      \
    {                                                                         \
        "repeat_penalty", read_number, MEMBER(repeat_penalty), 0              \
    }

#endif
