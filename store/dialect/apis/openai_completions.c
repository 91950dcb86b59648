/*
 * openai_completions.c - POST /v1/completions: logprobs as parallel lists
 * (OpenAI, vLLM, SGLang) or as chat's entries (llama.cpp).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/apis/apis.h"

static const char *const targets[] = {"/v1/completions", NULL};

static const struct request_key keys[] = {
    OPENAI_KEYS,
    SAMPLING_KEYS,
    {"prompt", read_prompts, 0, 0},
    {"max_tokens", read_max_tokens, 0, 0},
    {"n_predict", read_max_tokens, 0, 0},
    {"logprobs", read_top_count, MEMBER(top_logprobs), 0},
    {"echo", read_flag, MEMBER(echo), 0},
    {"best_of", read_neutral, 0, 1},
    {"response_format", read_plain_format, 0, 0},
    {"add_special_tokens", read_neutral, 0, 1},
    {NULL, NULL, 0, 0},
};

static void read_choice(struct answer_build *b, const json_t *choice)
{
    const json_t *logprobs = json_member(choice, "logprobs");
    struct choice_build *c = answer_choice(b, json_member(choice, "index"));
    struct tokens listed = {0}, ids = {0}, prompt = {0};
    struct span finish = json_text(json_object_get(choice, "finish_reason"));

    if (c == NULL)
        return;
    text_add(b->m, &c->text, json_text(json_member(choice, "text")));
    tokens_read_prompt(b, &prompt, json_member(choice, "prompt_logprobs"));
    choice_prompt(c, prompt);
    prompt = (struct tokens){0};
    tokens_read_ids(b, &prompt, json_member(choice, "prompt_token_ids"));
    choice_prompt(c, prompt);
    if (json_member(logprobs, "content") != NULL)
        tokens_read_entries(b, &listed, json_member(logprobs, "content"));
    else if (logprobs != NULL)
        tokens_read_legacy(b, &listed, logprobs);
    tokens_read_ids(b, &ids, json_member(choice, "token_ids"));
    choice_add(b, c, listed, ids);
    if (finish.n != 0)
        c->finish = memory_copy(b->m, finish);
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    const json_t *choices = json_member(root, "choices");

    if (!json_is_array(choices)) {
        answer_bad(b, "completion has no choices");
        return;
    }
    answer_names(b, root);
    answer_usage(b, json_member(root, "usage"));
    answer_timings(b, json_member(root, "timings"));
    for (size_t i = 0; i < json_array_size(choices); i++)
        read_choice(b, json_array_get(choices, i));
}

static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    (void)name;
    read_answer(b, root);
}

const struct dialect openai_completions = {
    "openai.completions", targets, true, keys, read_answer, read_event,
};
