/*
 * dialect.c - the table of dialects, and an exchange parsed in full. Comes in:
 * method, target, decoded bodies. Goes out: struct api_exchange, which owns
 * its arena.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "dialect/apis/apis.h"
#include "store/sse.h"

static const struct dialect *const dialects[] = {
    &openai_chat,   &openai_completions, &openai_responses, &anthropic_messages,
    &vllm_generate, &sglang_generate,    &llama_completion,
};
enum { DIALECTS = sizeof dialects / sizeof *dialects };

static bool is_target(const struct dialect *d, struct span path)
{
    for (size_t i = 0; d->targets[i] != NULL; i++) {
        struct span wanted = span_str(d->targets[i]), end = path;

        if (path.n < wanted.n)
            continue;
        if (d->anywhere) {
            end.p += path.n - wanted.n;
            end.n = wanted.n;
        }
        if (span_eq(end, wanted))
            return true;
    }
    return false;
}

const char *dialect_find(struct span method, struct span target)
{
    const uint8_t *query =
        target.n == 0 ? NULL : memchr(target.p, '?', target.n);

    if (query != NULL)
        target.n = (size_t)(query - target.p);
    if (!span_eq_str(method, "POST"))
        return NULL;
    for (size_t i = 0; i < DIALECTS; i++)
        if (is_target(dialects[i], target))
            return dialects[i]->name;
    return NULL;
}

static const char *read_request(const struct dialect *d, struct span text,
                                struct api_exchange *x)
{
    struct request_build b = {.m = x->memory, .r = &x->request};
    json_t *root;

    x->request.n = 1;
    if (json_is_too_much(text))
        return "request has too many values";
    root = json_read(text);
    if (root == NULL)
        return "request is not JSON";
    if (json_is_object(root))
        request_read(&b, root, d->keys, "");
    json_decref(root);
    if (x->request.n_prompts == 0)
        request_bad(&b, "request has no prompt");
    return b.why;
}

/* A whole answer, or what one event says of it; NULL: neither, and *b says
 * why. */
static json_t *read_part(struct answer_build *b, struct span text,
                         const char *not_json)
{
    json_t *root;

    if (json_is_too_much(text)) {
        answer_bad(b, "answer has too many values");
        return NULL;
    }
    root = json_read(text);
    if (root == NULL)
        answer_bad(b, not_json);
    return root;
}

static void read_whole(const struct dialect *d, struct answer_build *b,
                       struct span text)
{
    json_t *root = read_part(b, text, "answer is not JSON");

    if (root != NULL && !answer_error(b, root))
        d->answer(b, root);
    json_decref(root);
}

static void read_event(const struct dialect *d, struct answer_build *b,
                       struct span data, struct span name)
{
    json_t *root = read_part(b, data, "event is not JSON");

    if (root != NULL && !answer_error(b, root))
        d->event(b, root, name);
    json_decref(root);
}

static void read_stream(const struct dialect *d, struct answer_build *b,
                        struct span body)
{
    struct sse s = {.body = body};
    struct span data, name;
    enum parse r;

    while ((r = sse_next(&s, &data, &name)) == PARSE_OK && b->why == NULL) {
        enum sse_kind kind = sse_kind_of(data, name);

        if (kind == SSE_HEARTBEAT)
            continue;
        if (kind == SSE_DONE)
            b->answer->ended = true;
        else
            read_event(d, b, data, name);
        b->event = ++b->answer->events;
    }
    if (r == PARSE_BAD)
        b->m->failed = true;
    sse_end(&s);
}

static const struct dialect *find_name(const char *api)
{
    for (size_t i = 0; i < DIALECTS; i++)
        if (strcmp(dialects[i]->name, api) == 0)
            return dialects[i];
    return NULL;
}

enum parse dialect_parse(const char *api, struct span req, struct span resp,
                         bool streamed, struct api_exchange *ret_x)
{
    const struct dialect *d = find_name(api);
    struct answer_build b = {.request = &ret_x->request,
                             .answer = &ret_x->answer};

    memset(ret_x, 0, sizeof *ret_x);
    ret_x->why = "no such API";
    if (d == NULL)
        return PARSE_BAD;
    ret_x->memory = calloc(1, sizeof *ret_x->memory);
    ret_x->why = "out of memory";
    if (ret_x->memory == NULL)
        return PARSE_BAD;
    ret_x->api = d->name;
    b.m = ret_x->memory;
    ret_x->why = read_request(d, req, ret_x);
    if (resp.n != 0 && streamed)
        read_stream(d, &b, resp);
    else if (resp.n != 0)
        read_whole(d, &b, resp);
    answer_finish(&b);
    if (ret_x->why == NULL)
        ret_x->why = b.why;
    if (ret_x->memory->failed)
        ret_x->why = "out of memory"; /* or of what one exchange may have */
    return ret_x->why == NULL ? PARSE_OK : PARSE_BAD;
}

void dialect_free(struct api_exchange *x)
{
    if (x->memory != NULL) {
        memory_free(x->memory);
        free(x->memory);
    }
    memset(x, 0, sizeof *x);
}
