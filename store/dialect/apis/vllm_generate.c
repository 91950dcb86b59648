/*
 * vllm_generate.c - POST /inference/v1/generate of vLLM: token ids in, token
 * ids out, no text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/apis/apis.h"

static const char *const targets[] = {"/inference/v1/generate", NULL};

static const struct request_key sampling_keys[] = {
    SAMPLING_KEYS,
    {"max_tokens", read_max_tokens, 0, 0},
    {"logprobs", read_top_count, MEMBER(top_logprobs), 0},
    {"output_kind", read_ignored, 0, 0},
    {"skip_clone", read_ignored, 0, 0},
    {"skip_reading_prefix_cache", read_ignored, 0, 0},
    {"detokenize", read_ignored, 0, 0},
    {NULL, NULL, 0, 0},
};

static bool read_sampling(struct request_build *b, const json_t *v,
                          const struct request_key *k)
{
    (void)k;
    if (!json_is_object(v))
        return false;
    request_read(b, v, sampling_keys, "sampling_params.");
    return true;
}

static const struct request_key keys[] = {
    OPENAI_KEYS,
    {"token_ids", read_prompts, 0, 0},
    {"sampling_params", read_sampling, 0, 0},
    {"output_mode", read_ignored, 0, 0},
    {NULL, NULL, 0, 0},
};

static void read_choice(struct answer_build *b, const json_t *choice)
{
    const json_t *logprobs = json_member(choice, "logprobs");
    struct choice_build *c = answer_choice(b, json_member(choice, "index"));
    struct tokens listed = {0}, ids = {0};
    struct span finish = json_text(json_object_get(choice, "finish_reason"));

    if (c == NULL)
        return;
    tokens_read_entries(b, &listed, json_member(logprobs, "content"));
    tokens_read_ids(b, &ids, json_member(choice, "token_ids"));
    choice_add(b, c, listed, ids);
    if (finish.n != 0)
        c->finish = memory_copy(b->m, finish);
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    const json_t *choices = json_member(root, "choices");
    struct tokens prompt = {0};

    if (!json_is_array(choices)) {
        answer_bad(b, "generated answer has no choices");
        return;
    }
    answer_names(b, root);
    answer_usage(b, json_member(root, "usage"));
    tokens_read_ids(b, &prompt, json_member(root, "prompt_token_ids"));
    if (prompt.n != 0)
        b->prompt = prompt;
    for (size_t i = 0; i < json_array_size(choices); i++)
        read_choice(b, json_array_get(choices, i));
}

static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    (void)name;
    read_answer(b, root);
}

const struct dialect vllm_generate = {
    "vllm.generate", targets, true, keys, read_answer, read_event,
};
