/*
 * prompt.c - the prompts of a request: text, token ids, lists of either, and
 * messages with their parts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "dialect/reader/request.h"

static struct api_prompt *add_prompt(struct request_build *b,
                                     enum prompt_form form)
{
    struct api_request *r = b->r;
    struct api_prompt *p =
        memory_grow(b->m, r->prompts, r->n_prompts, sizeof *p);

    if (p == NULL)
        return NULL;
    r->prompts = p;
    p += r->n_prompts++;
    memset(p, 0, sizeof *p);
    p->form = form;
    return p;
}

static bool is_list_of(const json_t *v, json_type type)
{
    for (size_t i = 0; i < json_array_size(v); i++)
        if (json_typeof(json_array_get(v, i)) != type)
            return false;
    return json_array_size(v) != 0;
}

static bool add_ids(struct request_build *b, const json_t *list)
{
    size_t n = json_array_size(list);
    struct api_prompt *p = add_prompt(b, PROMPT_IDS);
    int64_t *ids = memory_take(b->m, n * sizeof *ids);

    if (p == NULL || ids == NULL)
        return true; /* memory says so at the end */
    for (size_t i = 0; i < n; i++)
        if (!json_whole(json_array_get(list, i), 0, UINT32_MAX, &ids[i])) {
            b->r->n_prompts--;
            return false;
        }
    p->ids = ids;
    p->n_ids = n;
    return true;
}

static bool add_prompt_text(struct request_build *b, const json_t *v)
{
    struct api_prompt *p = add_prompt(b, PROMPT_TEXT);

    if (p != NULL)
        p->text = memory_copy(b->m, json_text(v));
    return true;
}

/* One element of a list of prompts. */
static bool add_element(struct request_build *b, const json_t *v)
{
    if (json_is_string(v))
        return add_prompt_text(b, v);
    return is_list_of(v, JSON_INTEGER) && add_ids(b, v);
}

bool read_prompts(struct request_build *b, const json_t *v,
                  const struct request_key *k)
{
    (void)k;
    if (json_is_string(v))
        return add_prompt_text(b, v);
    if (is_list_of(v, JSON_INTEGER))
        return add_ids(b, v);
    for (size_t i = 0; i < json_array_size(v); i++)
        if (!add_element(b, json_array_get(v, i))) {
            b->r->n_prompts = 0; /* all of them or none */
            return false;
        }
    return json_array_size(v) != 0;
}

/* Text parts joined by LF, as vLLM and llama.cpp do; every other kind of part,
 * and that there were several, is a name in others. */
static struct span join_parts(struct request_build *b, const json_t *parts)
{
    struct text t = {0};
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        const json_t *text = json_member(part, "text");

        if (!json_is_string(text)) {
            request_other(b, "messages.content.",
                          json_text(json_object_get(part, "type")));
            continue;
        }
        if (n++ != 0)
            text_add(b->m, &t, span_str("\n"));
        text_add(b->m, &t, json_text(text));
    }
    if (n > 1)
        request_other(b, "messages.content", span_of(NULL, 0));
    return text_span(&t);
}

static void add_message(struct request_build *b, struct span role,
                        const json_t *content)
{
    struct api_prompt *p = b->r->prompts;
    struct api_message *list;

    if (p == NULL)
        p = add_prompt(b, PROMPT_MESSAGES);
    if (p == NULL)
        return;
    list = memory_grow(b->m, p->messages, p->n_messages, sizeof *list);
    if (list == NULL)
        return;
    p->messages = list;
    list += p->n_messages++;
    list->role = memory_copy(b->m, role);
    list->content = json_is_string(content)
                        ? memory_copy(b->m, json_text(content))
                        : join_parts(b, content);
}

/* Members other than role and content change what a template writes. */
static void note_members(struct request_build *b, const json_t *message)
{
    const char *key;
    json_t *v;

    /* The iteration only reads. */
    json_object_foreach((json_t *)(uintptr_t)message, key, v) {
        if (strcmp(key, "role") != 0 && strcmp(key, "content") != 0 &&
            !json_is_null(v) &&
            !(strcmp(key, "type") == 0 && span_eq_str(json_text(v), "message")))
            request_other(b, "messages.", span_str(key));
    }
}

bool read_messages(struct request_build *b, const json_t *v,
                   const struct request_key *k)
{
    (void)k;
    if (json_is_string(v)) { /* "input" of responses */
        add_message(b, span_str("user"), v);
        return true;
    }
    if (!json_is_array(v))
        return false;
    for (size_t i = 0; i < json_array_size(v); i++) {
        const json_t *message = json_array_get(v, i);
        const json_t *role = json_object_get(message, "role");

        note_members(b, message);
        if (json_is_string(role))
            add_message(b, json_text(role), json_member(message, "content"));
    }
    return true;
}

bool read_system(struct request_build *b, const json_t *v,
                 const struct request_key *k)
{
    struct api_prompt *p;
    struct api_message system;

    (void)k;
    if (!json_is_string(v) && !json_is_array(v))
        return false;
    add_message(b, span_str("system"), v);
    p = b->r->prompts;
    if (p == NULL || p->n_messages == 0)
        return true;
    system = p->messages[p->n_messages - 1];
    memmove(p->messages + 1, p->messages,
            (p->n_messages - 1) * sizeof *p->messages);
    p->messages[0] = system;
    return true;
}
