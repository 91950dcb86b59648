/*
 * answer.c - choices, names, usage and errors of an answer, as they are read.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/reader/answer.h"

#include <stdlib.h>
#include <string.h>

void answer_bad(struct answer_build *b, const char *why)
{
    if (b->why == NULL)
        b->why = why;
}

struct choice_build *answer_choice(struct answer_build *b, const json_t *index)
{
    int64_t wanted = 0;
    struct choice_build *c;

    if (index != NULL && !json_whole(index, 0, UINT32_MAX, &wanted)) {
        answer_bad(b, "index of a choice is no number");
        return NULL;
    }
    for (size_t i = 0; i < b->n_choices; i++)
        if (b->choices[i].index == wanted)
            return &b->choices[i];
    if (b->n_choices == CHOICES_MAX) {
        answer_bad(b, "too many choices");
        return NULL;
    }
    c = memory_grow(b->m, b->choices, b->n_choices, sizeof *c);
    if (c == NULL)
        return NULL;
    b->choices = c;
    c += b->n_choices++;
    memset(c, 0, sizeof *c);
    c->index = (uint32_t)wanted;
    return c;
}

/* The text of any JSON value, compact. */
static struct span dump(struct dialect_memory *m, const json_t *v)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    struct span s;

    if (text == NULL) {
        m->failed = true;
        return span_of(NULL, 0);
    }
    s = memory_copy(m, span_str(text));
    free(text);
    return s;
}

bool answer_error(struct answer_build *b, const json_t *root)
{
    const json_t *error = json_member(root, "error"), *message;

    if (error == NULL &&
        span_eq_str(json_text(json_object_get(root, "object")), "error"))
        error = root;
    if (error == NULL)
        error = json_member(root, "detail");
    if (error == NULL)
        return false;
    message = json_member(error, "message");
    if (message == NULL)
        message = error;
    b->answer->error = json_is_string(message)
                           ? memory_copy(b->m, json_text(message))
                           : dump(b->m, message);
    if (b->answer->error.n == 0)
        b->answer->error = dump(b->m, error);
    return true;
}

void answer_names(struct answer_build *b, const json_t *root)
{
    static const char *const names[] = {"id", "request_id"};
    const json_t *model = json_member(root, "model");

    if (json_is_string(model) && b->answer->model.n == 0)
        b->answer->model = memory_copy(b->m, json_text(model));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (b->answer->id.n == 0)
            b->answer->id = json_member_text(b->m, root, names[i]);
}

static bool count_of(const json_t *usage, const char *openai,
                     const char *anthropic, uint64_t *ret_n)
{
    return json_count(json_object_get(usage, openai), ret_n) ||
           json_count(json_object_get(usage, anthropic), ret_n);
}

void answer_usage(struct answer_build *b, const json_t *usage)
{
    struct api_answer *a = b->answer;
    uint64_t in, read = 0, created = 0;
    const json_t *details = json_member(usage, "prompt_tokens_details");

    if (details == NULL)
        details = json_member(usage, "input_tokens_details");
    (void)json_count(json_object_get(details, "cached_tokens"),
                     &a->tokens_cached);
    (void)json_count(json_object_get(usage, "cached_tokens"),
                     &a->tokens_cached);
    /* Anthropic counts cached tokens beside the input tokens. */
    if (json_count(json_object_get(usage, "cache_read_input_tokens"), &read))
        a->tokens_cached = read;
    (void)json_count(json_object_get(usage, "cache_creation_input_tokens"),
                     &created);
    if (count_of(usage, "prompt_tokens", "input_tokens", &in) &&
        !__builtin_add_overflow(in, read, &in) &&
        !__builtin_add_overflow(in, created, &in))
        a->tokens_in = in;
    if (count_of(usage, "completion_tokens", "output_tokens", &a->tokens_out))
        a->has_usage = true;
}

void answer_timings(struct answer_build *b, const json_t *timings)
{
    struct api_answer *a = b->answer;
    uint64_t computed, cached, out;

    if (a->has_usage ||
        !json_count(json_object_get(timings, "prompt_n"), &computed) ||
        !json_count(json_object_get(timings, "cache_n"), &cached) ||
        !json_count(json_object_get(timings, "predicted_n"), &out))
        return;
    a->tokens_cached = cached;
    a->tokens_out = out;
    a->has_usage = !__builtin_add_overflow(computed, cached, &a->tokens_in);
}

void answer_other(struct answer_build *b, struct choice_build *c,
                  const json_t *piece)
{
    text_add(b->m, &c->other, span_str(c->other.n == 0 ? "[" : ","));
    text_add(b->m, &c->other, dump(b->m, piece));
}

void answer_others(struct answer_build *b, struct choice_build *c,
                   const json_t *message)
{
    const char *key;
    json_t *v;

    /* The iteration only reads. */
    json_object_foreach((json_t *)(uintptr_t)message, key, v) {
        bool empty = json_is_null(v) ||
                     (json_is_array(v) && json_array_size(v) == 0) ||
                     (json_is_string(v) && json_string_length(v) == 0);
        json_t *piece;

        if (empty || strcmp(key, "role") == 0 ||
            (strcmp(key, "content") == 0 && json_is_string(v)))
            continue;
        piece = json_pack("{sO}", key, v);
        if (piece == NULL)
            b->m->failed = true;
        else
            answer_other(b, c, piece);
        json_decref(piece);
    }
}

/* Both lists as one, in the longer one's place. */
static struct tokens join(struct tokens logprobs, struct tokens ids)
{
    struct tokens both = logprobs.n >= ids.n ? logprobs : ids;

    for (size_t i = 0; i < ids.n && i < logprobs.n; i++) {
        int64_t id = ids.p[i].chosen.id;

        both.p[i] = logprobs.p[i];
        both.p[i].chosen.id = id;
    }
    return both;
}

void choice_add(struct answer_build *b, struct choice_build *c,
                struct tokens logprobs, struct tokens ids)
{
    if (logprobs.n < ids.n && tokens_have_ids(logprobs)) {
        for (size_t i = 0; i < ids.n; i++)
            tokens_push(b->m, &c->ids, &ids.p[i]);
        ids.n = 0;
    }
    if (ids.n != 0 && logprobs.n > ids.n) {
        size_t echoed = logprobs.n - ids.n;

        choice_prompt(c, tokens_cut(&logprobs, echoed));
    }
    logprobs = join(logprobs, ids);
    if (c->tokens.n == 0)
        c->tokens = logprobs;
    else
        for (size_t i = 0; i < logprobs.n; i++)
            tokens_push(b->m, &c->tokens, &logprobs.p[i]);
}

void choice_prompt(struct choice_build *c, struct tokens prompt)
{
    struct tokens both = prompt;

    if (c->prompt.n == prompt.n) { /* what one lacks the other may have */
        const struct tokens ids =
            tokens_have_ids(c->prompt) ? c->prompt : prompt;

        both = tokens_have_ids(c->prompt) ? prompt : c->prompt;
        for (size_t i = 0; i < both.n; i++)
            both.p[i].chosen.id = ids.p[i].chosen.id;
    } else if (c->prompt.n > prompt.n) {
        both = c->prompt;
    }
    c->prompt = both;
}
