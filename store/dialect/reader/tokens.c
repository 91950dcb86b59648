/*
 * tokens.c - token lists in every form the APIs have: entries with top lists,
 * the parallel lists of completions, SGLang's triples, plain ids.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "dialect/reader/answer.h"

/* For n more; false: out of memory. A list whose length is known takes what it
 * needs at once, what comes piece by piece doubles. */
static bool make_room(struct dialect_memory *m, struct tokens *t, size_t n)
{
    struct api_token *p;
    size_t size = t->n + n; /* of one text's values: it does not overflow */

    if (size <= t->size)
        return true;
    if (size < 2 * t->size)
        size = 2 * t->size;
    p = memory_take(m, size * sizeof *p);
    if (p == NULL)
        return false;
    if (t->n != 0)
        memcpy(p, t->p, t->n * sizeof *p);
    t->p = p;
    t->size = size;
    return true;
}

void tokens_push(struct dialect_memory *m, struct tokens *t,
                 const struct api_token *token)
{
    if (make_room(m, t, 1))
        t->p[t->n++] = *token;
}

struct tokens tokens_cut(struct tokens *t, size_t n)
{
    struct tokens first = {t->p, n, n};

    if (n != 0) {
        t->p += n;
        t->n -= n;
        t->size -= n;
    }
    return first;
}

bool tokens_have_ids(struct tokens t)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.p[i].chosen.id == TOKEN_NONE)
            return false;
    return t.n != 0;
}

bool tokens_have_logprobs(struct tokens t)
{
    for (size_t i = 0; i < t.n; i++)
        if (!t.p[i].chosen.has_logprob)
            return false;
    return t.n != 0;
}

/* A number, or null for minus infinity, which JSON cannot write. */
static void set_logprob(struct api_candidate *c, const json_t *v)
{
    float f;

    if (!json_is_number(v) && !json_is_null(v))
        return;
    c->logprob = json_is_null(v) ? -INFINITY : json_number_value(v);
    f = (float)c->logprob; /* IEEE 754: nearest, ties to even */
    memcpy(&c->bits, &f, sizeof c->bits);
    c->has_logprob = true;
}

static bool read_decimal(struct span text, int64_t *ret_v)
{
    int64_t v = 0;

    if (text.n == 0 || text.n > 10)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        v = 10 * v + (text.p[i] - '0');
    }
    *ret_v = v;
    return true;
}

/* "token_id:5" is vLLM's way of giving the id in place of the text. */
static bool is_id_text(struct span text, int64_t *ret_id)
{
    static const char mark[] = "token_id:";
    const size_t n = sizeof mark - 1;

    return text.n > n && memcmp(text.p, mark, n) == 0 &&
           read_decimal(span_of(text.p + n, text.n - n), ret_id);
}

static void set_text(struct dialect_memory *m, struct api_candidate *c,
                     struct span text)
{
    if (is_id_text(text, &c->id))
        return;
    c->bytes = memory_copy(m, text);
    c->has_bytes = true;
}

static void set_bytes(struct answer_build *b, struct api_candidate *c,
                      const json_t *list)
{
    size_t n = json_array_size(list);
    uint8_t *p = memory_take(b->m, n + 1);
    int64_t v;

    if (p == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!json_whole(json_array_get(list, i), 0, 255, &v)) {
            answer_bad(b, "bytes of a token are no bytes");
            return;
        }
        p[i] = (uint8_t)v;
    }
    c->bytes = span_of(p, n);
    c->has_bytes = true;
}

static void set_id(struct api_candidate *c, const json_t *v)
{
    int64_t id;

    if (json_whole(v, 0, UINT32_MAX, &id))
        c->id = id;
}

/* One entry without its top list. Under "token_id:N" bytes spell that text. */
static void read_candidate(struct answer_build *b, const json_t *entry,
                           struct api_candidate *c)
{
    static const char *const texts[] = {"token", "content", "tok_str"};
    const json_t *prob = json_member(entry, "prob"), *v;

    memset(c, 0, sizeof *c);
    c->id = TOKEN_NONE;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        v = json_member(entry, texts[i]);
        if (json_is_string(v))
            set_text(b->m, c, json_text(v));
    }
    if (c->id == TOKEN_NONE && json_member(entry, "bytes") != NULL)
        set_bytes(b, c, json_member(entry, "bytes"));
    set_id(c, json_object_get(entry, "id"));
    set_id(c, json_object_get(entry, "token_id"));
    set_logprob(c, json_object_get(entry, "logprob"));
    if (json_is_number(prob)) {
        set_logprob(c, prob);
        c->has_logprob = false;
        c->has_prob = true;
    }
}

/* Makes room for n candidates; false if there are none. */
static bool start_top(struct answer_build *b, struct api_token *t, size_t n)
{
    t->top = n == 0 ? NULL : memory_take(b->m, n * sizeof *t->top);
    return t->top != NULL;
}

static void read_top(struct answer_build *b, const json_t *list,
                     struct api_token *t)
{
    size_t n = json_array_size(list);

    if (!start_top(b, t, n))
        return;
    for (t->n_top = 0; t->n_top < n; t->n_top++)
        read_candidate(b, json_array_get(list, t->n_top), &t->top[t->n_top]);
}

void tokens_read_entries(struct answer_build *b, struct tokens *t,
                         const json_t *list)
{
    static const char *const tops[] = {"top_logprobs", "top_probs", "probs"};

    if (!make_room(b->m, t, json_array_size(list)))
        return;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        struct api_token token = {.event = b->event};

        if (!json_is_object(entry)) {
            answer_bad(b, "logprobs of a token are no object");
            return;
        }
        read_candidate(b, entry, &token.chosen);
        for (size_t k = 0; k < sizeof tops / sizeof *tops; k++)
            if (json_array_size(json_object_get(entry, tops[k])) != 0)
                read_top(b, json_object_get(entry, tops[k]), &token);
        tokens_push(b->m, t, &token);
    }
}

/* {" a": -1.5, ...}: completions' top list of one position. */
static void read_top_object(struct answer_build *b, const json_t *object,
                            struct api_token *t)
{
    const char *key;
    size_t len;
    json_t *v;

    if (!start_top(b, t, json_object_size(object)))
        return;
    /* The iteration only reads. */
    json_object_keylen_foreach((json_t *)(uintptr_t)object, key, len, v)
    {
        struct api_candidate *c = &t->top[t->n_top++];

        c->id = TOKEN_NONE;
        set_text(b->m, c, span_of(key, len));
        set_logprob(c, v);
    }
}

void tokens_read_legacy(struct answer_build *b, struct tokens *t,
                        const json_t *lists)
{
    const json_t *texts = json_member(lists, "tokens");
    const json_t *logprobs = json_member(lists, "token_logprobs");
    const json_t *tops = json_member(lists, "top_logprobs");
    size_t n = json_array_size(texts);

    if (json_array_size(logprobs) != n ||
        (tops != NULL && json_array_size(tops) != n)) {
        answer_bad(b, "lists of logprobs differ in length");
        return;
    }
    if (!make_room(b->m, t, n))
        return;
    for (size_t i = 0; i < n; i++) {
        struct api_token token = {.event = b->event};

        token.chosen.id = TOKEN_NONE;
        set_text(b->m, &token.chosen, json_text(json_array_get(texts, i)));
        set_logprob(&token.chosen, json_array_get(logprobs, i));
        read_top_object(b, json_array_get(tops, i), &token);
        tokens_push(b->m, t, &token);
    }
}

static bool read_triple(struct answer_build *b, const json_t *triple,
                        struct api_candidate *c)
{
    const json_t *text = json_array_get(triple, 2);

    memset(c, 0, sizeof *c);
    c->id = TOKEN_NONE;
    if (json_array_size(triple) < 2) {
        answer_bad(b, "logprob of a token is no triple");
        return false;
    }
    set_id(c, json_array_get(triple, 1));
    set_logprob(c, json_array_get(triple, 0));
    if (json_is_string(text))
        set_text(b->m, c, json_text(text));
    return true;
}

void tokens_read_triples(struct answer_build *b, struct tokens *t,
                         const json_t *list, const json_t *tops)
{
    if (!make_room(b->m, t, json_array_size(list)))
        return;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *top = json_array_get(tops, i);
        struct api_token token = {.event = b->event};
        size_t n = json_array_size(top);

        if (!read_triple(b, json_array_get(list, i), &token.chosen))
            return;
        if (start_top(b, &token, n))
            for (; token.n_top < n; token.n_top++)
                if (!read_triple(b, json_array_get(top, token.n_top),
                                 &token.top[token.n_top]))
                    return;
        tokens_push(b->m, t, &token);
    }
}

void tokens_read_ids(struct answer_build *b, struct tokens *t,
                     const json_t *ids)
{
    if (!make_room(b->m, t, json_array_size(ids)))
        return;
    for (size_t i = 0; i < json_array_size(ids); i++) {
        struct api_token token = {.event = b->event};

        token.chosen.id = TOKEN_NONE;
        set_id(&token.chosen, json_array_get(ids, i));
        if (token.chosen.id == TOKEN_NONE) {
            answer_bad(b, "token id is no number");
            return;
        }
        tokens_push(b->m, t, &token);
    }
}

/* One position of prompt_logprobs; vLLM puts the prompt's own token first. */
static void read_position(struct answer_build *b, const json_t *object,
                          struct api_token *t)
{
    const char *key;
    size_t len;
    json_t *v;

    if (!start_top(b, t, json_object_size(object)))
        return;
    json_object_keylen_foreach((json_t *)(uintptr_t)object, key, len, v)
    {
        struct api_candidate *c = &t->top[t->n_top++];
        json_t *text = json_member(v, "decoded_token");

        c->id = TOKEN_NONE;
        (void)read_decimal(span_of(key, len), &c->id); /* else none */
        set_logprob(c, json_object_get(v, "logprob"));
        if (json_is_string(text))
            set_text(b->m, c, json_text(text));
    }
    t->chosen = t->top[0];
}

void tokens_read_prompt(struct answer_build *b, struct tokens *t,
                        const json_t *list)
{
    if (!make_room(b->m, t, json_array_size(list)))
        return;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct api_token token = {.event = b->event};

        token.chosen.id = TOKEN_NONE;
        read_position(b, json_array_get(list, i), &token);
        tokens_push(b->m, t, &token);
    }
}
