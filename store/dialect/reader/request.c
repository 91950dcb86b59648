/*
 * request.c - reading the keys of a request by a table; the readers of plain
 * types.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/reader/request.h"

#include <string.h>

void request_bad(struct request_build *b, const char *why)
{
    if (b->why == NULL)
        b->why = why;
}

void request_other(struct request_build *b, const char *prefix,
                   struct span name)
{
    struct api_request *r = b->r;
    struct text t = {0};
    struct span *others;

    if (r->n_others == API_OTHERS_MAX) {
        request_bad(b, "request has too many keys of no API");
        return;
    }
    text_add(b->m, &t, span_str(prefix));
    text_add(b->m, &t, name);
    for (size_t i = 0; i < r->n_others; i++)
        if (span_eq(r->others[i], text_span(&t)))
            return;
    others = memory_grow(b->m, r->others, r->n_others, sizeof *others);
    if (others == NULL)
        return;
    r->others = others;
    others[r->n_others++] = text_span(&t);
}

static bool is_empty(const json_t *v)
{
    return json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0) ||
           (json_is_object(v) && json_object_size(v) == 0);
}

void request_read(struct request_build *b, const json_t *object,
                  const struct request_key *keys, const char *prefix)
{
    const json_t *outer = b->object;
    const char *name;
    size_t len;
    json_t *v;

    b->object = object;
    /* The iteration only reads. */
    json_object_keylen_foreach((json_t *)(uintptr_t)object, name, len, v)
    {
        const struct request_key *k = keys;

        if (json_is_null(v))
            continue;
        while (k->name != NULL && strcmp(k->name, name) != 0)
            k++;
        if (k->name == NULL ? !is_empty(v) : !k->read(b, v, k))
            request_other(b, prefix, span_of(name, len));
    }
    b->object = outer;
}

static void *member(struct request_build *b, const struct request_key *k)
{
    return (char *)b->r + k->offset;
}

bool read_ignored(struct request_build *b, const json_t *v,
                  const struct request_key *k)
{
    (void)b;
    (void)v;
    (void)k;
    return true;
}

bool read_neutral(struct request_build *b, const json_t *v,
                  const struct request_key *k)
{
    (void)b;
    if (json_is_boolean(v))
        return json_is_true(v) == (k->neutral != 0);
    return json_is_number(v) && json_number_value(v) == k->neutral;
}

bool read_text(struct request_build *b, const json_t *v,
               const struct request_key *k)
{
    struct span *s = member(b, k);

    if (!json_is_string(v))
        return false;
    *s = memory_copy(b->m, json_text(v));
    return true;
}

bool read_flag(struct request_build *b, const json_t *v,
               const struct request_key *k)
{
    bool *flag = member(b, k);

    if (!json_is_boolean(v))
        return false;
    *flag = json_is_true(v);
    return true;
}

bool read_number(struct request_build *b, const json_t *v,
                 const struct request_key *k)
{
    struct api_number *number = member(b, k);

    if (!json_is_number(v))
        return false;
    number->set = true;
    number->value = json_number_value(v);
    return true;
}

bool read_count(struct request_build *b, const json_t *v,
                const struct request_key *k)
{
    uint32_t *count = member(b, k);
    int64_t n;

    if (!json_whole(v, 0, UINT32_MAX, &n))
        return false;
    *count = (uint32_t)n;
    return true;
}

bool read_max_tokens(struct request_build *b, const json_t *v,
                     const struct request_key *k)
{
    int64_t n;

    if (!json_whole(v, INT64_MIN, INT64_MAX, &n))
        return false;
    /* OpenAI's newer name goes before its older one. */
    if (n < 0 || (strcmp(k->name, "max_tokens") == 0 &&
                  json_member(b->object, "max_completion_tokens") != NULL))
        return true;
    b->r->has_max_tokens = true;
    b->r->max_tokens = (uint64_t)n;
    return true;
}

bool read_seed(struct request_build *b, const json_t *v,
               const struct request_key *k)
{
    (void)k;
    if (!json_whole(v, INT64_MIN, INT64_MAX, &b->r->seed))
        return false;
    b->r->has_seed = true;
    return true;
}

static bool add_stop(struct request_build *b, const json_t *v)
{
    struct span *stops;

    if (!json_is_string(v))
        return false;
    stops = memory_grow(b->m, b->r->stops, b->r->n_stops, sizeof *stops);
    if (stops != NULL) {
        b->r->stops = stops;
        stops[b->r->n_stops++] = memory_copy(b->m, json_text(v));
    }
    return true;
}

bool read_stops(struct request_build *b, const json_t *v,
                const struct request_key *k)
{
    (void)k;
    if (!json_is_array(v))
        return add_stop(b, v);
    for (size_t i = 0; i < json_array_size(v); i++)
        if (!add_stop(b, json_array_get(v, i)))
            return false;
    return true;
}

bool read_top_logprobs(struct request_build *b, const json_t *v,
                       const struct request_key *k)
{
    b->r->has_top_logprobs = true;
    return read_count(b, v, k);
}

bool read_top_count(struct request_build *b, const json_t *v,
                    const struct request_key *k)
{
    (void)k;
    if (json_is_boolean(v)) { /* the chat form of the key */
        b->r->logprobs = json_is_true(v);
        return true;
    }
    if (!read_count(b, v, k))
        return false;
    b->r->logprobs = true;
    return true;
}

bool read_no_tools(struct request_build *b, const json_t *v,
                   const struct request_key *k)
{
    (void)b;
    (void)k;
    return span_eq_str(json_text(v), "none") ||
           span_eq_str(json_text(v), "auto");
}

bool read_plain_format(struct request_build *b, const json_t *v,
                       const struct request_key *k)
{
    (void)b;
    (void)k;
    return span_eq_str(json_text(json_object_get(v, "type")), "text");
}
