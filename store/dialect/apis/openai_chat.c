/*
 * openai_chat.c - POST /v1/chat/completions, as OpenAI, vLLM, SGLang and
 * llama.cpp have it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/apis/apis.h"

static const char *const targets[] = {"/v1/chat/completions",
                                      "/chat/completions", NULL};

static const struct request_key keys[] = {
    OPENAI_KEYS,
    SAMPLING_KEYS,
    {"messages", read_messages, 0, 0},
    {"max_tokens", read_max_tokens, 0, 0},
    {"max_completion_tokens", read_max_tokens, 0, 0},
    {"n_predict", read_max_tokens, 0, 0},
    {"logprobs", read_flag, MEMBER(logprobs), 0},
    {"top_logprobs", read_top_logprobs, MEMBER(top_logprobs), 0},
    {"tool_choice", read_no_tools, 0, 0},
    {"parallel_tool_calls", read_ignored, 0, 0},
    {"response_format", read_plain_format, 0, 0},
    {"echo", read_neutral, 0, 0},
    {"add_generation_prompt", read_neutral, 0, 1},
    {"continue_final_message", read_neutral, 0, 0},
    {"add_special_tokens", read_neutral, 0, 0},
    {NULL, NULL, 0, 0},
};

/* What a choice has beside its message or delta. */
static void read_choice(struct answer_build *b, struct choice_build *c,
                        const json_t *choice)
{
    const json_t *logprobs = json_member(choice, "logprobs");
    struct tokens listed = {0}, ids = {0}, prompt = {0};
    struct span finish = json_text(json_object_get(choice, "finish_reason"));

    tokens_read_ids(b, &prompt, json_member(choice, "prompt_token_ids"));
    choice_prompt(c, prompt);
    tokens_read_entries(b, &listed, json_member(logprobs, "content"));
    tokens_read_ids(b, &ids, json_member(choice, "token_ids"));
    choice_add(b, c, listed, ids);
    if (finish.n != 0)
        c->finish = memory_copy(b->m, finish);
}

/* prompt_token_ids and prompt_logprobs stand beside the choices. */
static void read_prompt(struct answer_build *b, const json_t *root)
{
    struct tokens listed = {0};
    struct choice_build c = {.prompt = b->prompt};

    tokens_read_prompt(b, &listed, json_member(root, "prompt_logprobs"));
    choice_prompt(&c, listed);
    listed = (struct tokens){0};
    tokens_read_ids(b, &listed, json_member(root, "prompt_token_ids"));
    choice_prompt(&c, listed);
    b->prompt = c.prompt;
}

static void read_chunk(struct answer_build *b, const json_t *root,
                       const char *message_key)
{
    const json_t *choices = json_member(root, "choices");

    if (!json_is_array(choices)) {
        answer_bad(b, "chat answer has no choices");
        return;
    }
    answer_names(b, root);
    answer_usage(b, json_member(root, "usage"));
    answer_timings(b, json_member(root, "timings"));
    read_prompt(b, root);
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *choice = json_array_get(choices, i);
        const json_t *message = json_member(choice, message_key);
        struct choice_build *c = answer_choice(b, json_member(choice, "index"));

        if (c == NULL)
            return;
        text_add(b->m, &c->text, json_text(json_member(message, "content")));
        answer_others(b, c, message);
        read_choice(b, c, choice);
    }
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    read_chunk(b, root, "message");
}

static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    (void)name;
    read_chunk(b, root, "delta");
}

const struct dialect openai_chat = {
    "openai.chat", targets, true, keys, read_answer, read_event,
};
