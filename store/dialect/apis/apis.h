/*
 * apis.h - one file an API, one row of dialect.c's table each: its name, the
 * paths it is asked at, its request's keys, and who reads its answers.
 *
 *     {"vllm.generate", targets, keys, whole answer, one event}
 *
 * A reader fills what it finds and complains through request_bad and
 * answer_bad. To add an API: its file here, its row there, its name in
 * store/dialect.h. Arrows: apis see reader; no API sees another.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_APIS_H
#define STORE_DIALECT_APIS_H

#include "dialect/reader/answer.h"
#include "dialect/reader/request.h"

struct dialect {
    const char *name;
    const char *const *targets; /* paths, end with NULL */
    bool anywhere;              /* the path may have a prefix */
    const struct request_key *keys;
    /* A whole answer, already known to be no error. */
    void (*answer)(struct answer_build *b, const json_t *root);
    /* One data event; name is the event's or empty. */
    void (*event)(struct answer_build *b, const json_t *root, struct span name);
};

extern const struct dialect openai_chat, openai_completions, openai_responses,
    anthropic_messages, llama_completion, sglang_generate, vllm_generate;

#endif
