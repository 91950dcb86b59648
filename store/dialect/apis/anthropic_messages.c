/*
 * anthropic_messages.c - POST /v1/messages: content blocks, streamed as named
 * events. The API has no seed and gives no token ids.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/apis/apis.h"

static const char *const targets[] = {"/v1/messages", NULL};

static const struct request_key keys[] = {
    OPENAI_KEYS,
    SAMPLING_KEYS,
    {"messages", read_messages, 0, 0},
    {"system", read_system, 0, 0},
    {"max_tokens", read_max_tokens, 0, 0},
    {"stop_sequences", read_stops, 0, 0},
    {NULL, NULL, 0, 0},
};

/* A text block's text; every other block goes to others. */
static void read_block(struct answer_build *b, struct choice_build *c,
                       const json_t *block)
{
    if (span_eq_str(json_text(json_object_get(block, "type")), "text"))
        text_add(b->m, &c->text, json_text(json_member(block, "text")));
    else
        answer_other(b, c, block);
}

static void read_message(struct answer_build *b, struct choice_build *c,
                         const json_t *message)
{
    const json_t *content = json_member(message, "content");
    struct span reason = json_text(json_object_get(message, "stop_reason"));

    answer_names(b, message);
    answer_usage(b, json_member(message, "usage"));
    for (size_t i = 0; i < json_array_size(content); i++)
        read_block(b, c, json_array_get(content, i));
    if (reason.n != 0)
        c->finish = memory_copy(b->m, reason);
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    struct choice_build *c = answer_choice(b, NULL);

    if (!json_is_array(json_member(root, "content")))
        answer_bad(b, "message has no content");
    else if (c != NULL)
        read_message(b, c, root);
}

static void read_delta(struct answer_build *b, struct choice_build *c,
                       const json_t *delta)
{
    if (span_eq_str(json_text(json_object_get(delta, "type")), "text_delta"))
        text_add(b->m, &c->text, json_text(json_member(delta, "text")));
    else
        answer_other(b, c, delta);
}

static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    struct span type = json_text(json_object_get(root, "type"));
    struct choice_build *c = answer_choice(b, NULL);

    if (c == NULL)
        return;
    if (type.n == 0)
        type = name;
    if (span_eq_str(type, "message_start")) {
        read_message(b, c, json_member(root, "message"));
    } else if (span_eq_str(type, "content_block_start")) {
        read_block(b, c, json_member(root, "content_block"));
    } else if (span_eq_str(type, "content_block_delta")) {
        read_delta(b, c, json_member(root, "delta"));
    } else if (span_eq_str(type, "message_delta")) {
        read_message(b, c, json_member(root, "delta"));
        answer_usage(b, json_member(root, "usage"));
    } else if (span_eq_str(type, "message_stop")) {
        b->answer->ended = true;
    }
}

const struct dialect anthropic_messages = {
    "anthropic.messages", targets, true, keys, read_answer, read_event,
};
