/*
 * openai_responses.c - POST /v1/responses: a list of output items, streamed as
 * typed events with the whole response once more in the last.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/apis/apis.h"

static const char *const targets[] = {"/v1/responses", NULL};

static const struct request_key keys[] = {
    OPENAI_KEYS,
    SAMPLING_KEYS,
    {"input", read_messages, 0, 0},
    {"instructions", read_system, 0, 0},
    {"max_output_tokens", read_max_tokens, 0, 0},
    {"logprobs", read_flag, MEMBER(logprobs), 0},
    {"top_logprobs", read_top_count, MEMBER(top_logprobs), 0},
    {"tool_choice", read_no_tools, 0, 0},
    {"parallel_tool_calls", read_ignored, 0, 0},
    {"include", read_ignored, 0, 0},
    {"background", read_neutral, 0, 0},
    {"truncation", read_no_tools, 0, 0},
    {NULL, NULL, 0, 0},
};

/* Text and logprobs of a message item; of streams they came as deltas. */
static void read_message(struct answer_build *b, struct choice_build *c,
                         const json_t *item)
{
    const json_t *parts = json_member(item, "content");

    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        struct tokens listed = {0}, ids = {0};

        if (!span_eq_str(json_text(json_object_get(part, "type")),
                         "output_text")) {
            answer_other(b, c, part);
            continue;
        }
        text_add(b->m, &c->text, json_text(json_member(part, "text")));
        tokens_read_entries(b, &listed, json_member(part, "logprobs"));
        choice_add(b, c, listed, ids);
    }
}

static bool is_message(const json_t *item)
{
    return span_eq_str(json_text(json_object_get(item, "type")), "message");
}

/* Names, usage and the reason of the end. */
static void read_envelope(struct answer_build *b, struct choice_build *c,
                          const json_t *root)
{
    const json_t *details = json_member(root, "incomplete_details");
    struct span end = json_text(json_member(details, "reason"));

    if (end.n == 0)
        end = json_text(json_member(root, "status"));
    answer_names(b, root);
    answer_usage(b, json_member(root, "usage"));
    (void)answer_error(b, root);
    c->finish = memory_copy(b->m, end);
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    const json_t *output = json_member(root, "output");
    struct choice_build *c = answer_choice(b, NULL);

    if (!json_is_array(output))
        answer_bad(b, "response has no output");
    if (c == NULL)
        return;
    read_envelope(b, c, root);
    for (size_t i = 0; i < json_array_size(output); i++) {
        const json_t *item = json_array_get(output, i);

        if (is_message(item))
            read_message(b, c, item);
        else
            answer_other(b, c, item);
    }
}

static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    struct span type = json_text(json_object_get(root, "type"));
    const json_t *response = json_member(root, "response");
    struct choice_build *c = answer_choice(b, NULL);
    struct tokens listed = {0}, ids = {0};

    if (c == NULL)
        return;
    if (type.n == 0)
        type = name;
    if (span_eq_str(type, "response.output_text.delta")) {
        text_add(b->m, &c->text, json_text(json_member(root, "delta")));
        tokens_read_entries(b, &listed, json_member(root, "logprobs"));
        choice_add(b, c, listed, ids);
    } else if (span_eq_str(type, "response.output_item.done") &&
               !is_message(json_member(root, "item"))) {
        answer_other(b, c, json_member(root, "item"));
    }
    if (response == NULL)
        return;
    read_envelope(b, c, response);
    b->answer->ended = span_eq_str(type, "response.completed") ||
                       span_eq_str(type, "response.incomplete") ||
                       span_eq_str(type, "response.failed");
}

const struct dialect openai_responses = {
    "openai.responses", targets, true, keys, read_answer, read_event,
};
