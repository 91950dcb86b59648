/*
 * result.c - what a worker computed: its JSON bytes from and to struct result
 * of store/job.h, and the digest by which runs are compared.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "job/packet.h"
#include "store/sha256.h"

#define RESULT_SCHEMA "assay.result/1"

static json_t *new_bits(uint32_t bits)
{
    char text[9];

    (void)snprintf(text, sizeof text, "%08" PRIx32, bits); /* fits */
    return json_string(text);
}

static json_t *new_candidate(const struct result_candidate *c, bool *bad)
{
    json_t *o = json_object();

    packet_set(o, "id", packet_new_u64(c->id), bad);
    packet_set(o, "bytes", packet_new_hex(c->bytes), bad);
    packet_set(o, "logprob", new_bits(c->bits), bad);
    return o;
}

static json_t *new_token(const struct result_token *t, bool *bad)
{
    json_t *o = new_candidate(&t->chosen, bad);
    json_t *top = json_array();

    for (size_t i = 0; i < t->n_top; i++)
        packet_add(top, new_candidate(&t->top[i], bad), bad);
    packet_set(o, "top", top, bad);
    return o;
}

static json_t *new_numbers(const uint32_t *v, size_t n, bool *bad)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        packet_add(list, packet_new_u64(v[i]), bad);
    return list;
}

static json_t *new_choice(const struct result_choice *c, bool *bad)
{
    json_t *o = json_object();
    json_t *tokens = json_array();

    for (size_t i = 0; i < c->n_tokens; i++)
        packet_add(tokens, new_token(&c->tokens[i], bad), bad);
    packet_set(o, "index", packet_new_u64(c->index), bad);
    packet_set(o, "prompt_ids",
               new_numbers(c->prompt_ids, c->n_prompt_ids, bad), bad);
    packet_set(o, "finish", packet_new_text(c->finish), bad);
    packet_set(o, "text", packet_new_hex(c->text), bad);
    packet_set(o, "unlisted", new_numbers(c->unlisted, c->n_unlisted, bad),
               bad);
    packet_set(o, "tokens", tokens, bad);
    return o;
}

int result_write(const struct result *r, char **ret_bytes, size_t *ret_n)
{
    json_t *o = json_object();
    json_t *digests = json_array(), *choices = json_array();
    bool bad = false;

    for (size_t i = 0; i < r->n_digests; i++)
        packet_add(digests, packet_new_hex(r->digests[i]), &bad);
    for (size_t i = 0; i < r->n_choices; i++)
        packet_add(choices, new_choice(&r->choices[i], &bad), &bad);
    packet_set(o, "schema", json_string(RESULT_SCHEMA), &bad);
    packet_set(o, "unit", packet_new_hex(span_of(r->unit, 32)), &bad);
    packet_set(o, "nonce", packet_new_hex(span_of(r->nonce, 16)), &bad);
    packet_set(o, "run", packet_new_u64(r->run), &bad);
    packet_set(o, "worker", packet_new_text(r->worker), &bad);
    packet_set(o, "manifest", packet_new_hex(span_of(r->manifest, 32)), &bad);
    packet_set(o, "status", json_string(r->ok ? "ok" : "uncheckable"), &bad);
    packet_set(o, "reason", packet_new_text(r->reason), &bad);
    packet_set(o, "route", packet_new_text(r->route), &bad);
    packet_set(o, "level", packet_new_text(r->level), &bad);
    packet_set(o, "forward_runs", packet_new_u64(r->forward_runs), &bad);
    packet_set(o, "detail", packet_new_text(r->detail), &bad);
    packet_set(o, "model", packet_new_text(r->model), &bad);
    packet_set(o, "prompt_tokens", packet_new_u64(r->prompt_tokens), &bad);
    packet_set(o, "completion_tokens", packet_new_u64(r->completion_tokens),
               &bad);
    packet_set(o, "digests", digests, &bad);
    packet_set(o, "more", json_boolean(r->more), &bad);
    packet_set(o, "choices", choices, &bad);
    return packet_dump(o, bad, ret_bytes, ret_n);
}

/* An array of n elements of size in the packet's memory, or NULL. */
static void *new_list(struct packet *p, size_t n, size_t size)
{
    void *q = packet_alloc(p->memory, n, size);

    if (q == NULL) {
        p->no_memory = true;
        packet_fail(p, "out of memory");
    }
    return q;
}

static void read_candidate(struct packet *p, struct result_candidate *c)
{
    uint8_t bits[4] = {0};
    uint64_t id;

    packet_u64(p, "id", UINT32_MAX, &id, "id is missing or not 32 bits");
    packet_hex_span(p, "bytes", &c->bytes, "bytes is missing or not hex");
    packet_hex(p, "logprob", span_of(bits, 4),
               "logprob is missing or not 8 hex digits");
    c->id = (uint32_t)id;
    c->bits = (uint32_t)bits[0] << 24 | (uint32_t)bits[1] << 16 |
              (uint32_t)bits[2] << 8 | bits[3];
}

static void read_token(struct packet *parent, const json_t *object,
                       struct result_token *t)
{
    struct packet p = packet_in(parent, object);
    const json_t *top;

    read_candidate(&p, &t->chosen);
    top = packet_array(&p, "top", "top is missing or not a list");
    t->top = new_list(&p, json_array_size(top), sizeof *t->top);
    for (size_t i = 0; !p.failed && i < json_array_size(top); i++) {
        struct packet inner = packet_in(&p, json_array_get(top, i));

        read_candidate(&inner, &t->top[i]);
        t->n_top = i + 1;
        packet_join(&p, &inner);
    }
    packet_join(parent, &p);
}

/* Numbers of 32 bits in the packet's memory. */
static uint32_t *read_numbers(struct packet *p, const char *key, size_t *ret_n,
                              const char *why)
{
    const json_t *list = packet_array(p, key, why);
    uint32_t *v = new_list(p, json_array_size(list), sizeof *v);

    for (*ret_n = 0; !p->failed && *ret_n < json_array_size(list);) {
        const json_t *one = json_array_get(list, *ret_n);

        if (!json_is_integer(one) || json_integer_value(one) < 0 ||
            json_integer_value(one) > UINT32_MAX)
            packet_fail(p, why);
        else
            v[(*ret_n)++] = (uint32_t)json_integer_value(one);
    }
    return v;
}

static void read_unlisted(struct packet *p, struct result_choice *c)
{
    static const char why[] =
        "unlisted is missing or not a rising list of tokens";

    c->unlisted = read_numbers(p, "unlisted", &c->n_unlisted, why);
    for (size_t i = 0; !p->failed && i < c->n_unlisted; i++)
        if (c->unlisted[i] >= c->n_tokens ||
            (i > 0 && c->unlisted[i] <= c->unlisted[i - 1]))
            packet_fail(p, why);
}

static void read_choice(struct packet *parent, const json_t *object,
                        struct result_choice *c)
{
    struct packet p = packet_in(parent, object);
    const json_t *tokens;
    uint64_t index;

    packet_u64(&p, "index", UINT32_MAX, &index,
               "index is missing or not a number");
    c->index = (uint32_t)index;
    c->prompt_ids = read_numbers(&p, "prompt_ids", &c->n_prompt_ids,
                                 "prompt_ids is missing or not a list of ids");
    packet_text(&p, "finish", &c->finish, "finish is missing or not a text");
    packet_hex_span(&p, "text", &c->text, "text is missing or not hex");
    tokens = packet_array(&p, "tokens", "tokens is missing or not a list");
    c->tokens = new_list(&p, json_array_size(tokens), sizeof *c->tokens);
    for (size_t i = 0; !p.failed && i < json_array_size(tokens); i++) {
        read_token(&p, json_array_get(tokens, i), &c->tokens[i]);
        c->n_tokens = i + 1;
    }
    read_unlisted(&p, c);
    packet_join(parent, &p);
}

static void read_digests(struct packet *p, struct result *r)
{
    static const char why[] = "digests is missing or not 32 bytes each in hex";
    const json_t *a = packet_array(p, "digests", why);

    r->digests = new_list(p, json_array_size(a), sizeof *r->digests);
    for (size_t i = 0; !p->failed && i < json_array_size(a); i++) {
        if (!packet_value_hex(p, json_array_get(a, i), &r->digests[i]) ||
            r->digests[i].n != 32)
            packet_fail(p, why);
        r->n_digests = i + 1;
    }
}

static void read_head(struct packet *p, struct result *r)
{
    struct span status;
    uint64_t run;

    packet_hex(p, "unit", span_of(r->unit, 32),
               "unit is missing or not 32 bytes in hex");
    packet_hex(p, "nonce", span_of(r->nonce, 16),
               "nonce is missing or not 16 bytes in hex");
    packet_u64(p, "run", UINT32_MAX, &run, "run is missing or not a number");
    r->run = (uint32_t)run;
    packet_text(p, "worker", &r->worker, "worker is missing or not a text");
    packet_hex(p, "manifest", span_of(r->manifest, 32),
               "manifest is missing or not 32 bytes in hex");
    packet_text(p, "status", &status, "status is missing or not a text");
    r->ok = !p->failed && span_eq_str(status, "ok");
    if (!p->failed && !r->ok && !span_eq_str(status, "uncheckable"))
        packet_fail(p, "status is neither ok nor uncheckable");
    packet_text(p, "reason", &r->reason, "reason is missing or not a text");
    if (!p->failed && r->ok != (r->reason.n == 0))
        packet_fail(p, "exactly an uncheckable result has a reason");
    packet_text(p, "route", &r->route, "route is missing or not a text");
    packet_text(p, "level", &r->level, "level is missing or not a text");
    packet_u64(p, "forward_runs", INT64_MAX, &r->forward_runs,
               "forward_runs is missing or not a number");
    packet_text(p, "detail", &r->detail, "detail is missing or not a text");
    packet_text(p, "model", &r->model, "model is missing or not a text");
}

static void read_result(struct packet *p, struct result *r)
{
    const json_t *choices;

    read_head(p, r);
    packet_u64(p, "prompt_tokens", INT64_MAX, &r->prompt_tokens,
               "prompt_tokens is missing or not a number");
    packet_u64(p, "completion_tokens", INT64_MAX, &r->completion_tokens,
               "completion_tokens is missing or not a number");
    read_digests(p, r);
    packet_bool(p, "more", &r->more, "more is missing or not true or false");
    choices = packet_array(p, "choices", "choices is missing or not a list");
    r->choices = new_list(p, json_array_size(choices), sizeof *r->choices);
    for (size_t i = 0; !p->failed && i < json_array_size(choices); i++) {
        read_choice(p, json_array_get(choices, i), &r->choices[i]);
        r->n_choices = i + 1;
    }
}

int result_read(struct span bytes, struct result *ret_r, const char **ret_why)
{
    struct packet_memory *m = packet_memory_open();
    struct result r = {.memory = m};
    json_t *root = NULL;
    struct packet p;
    int err;

    *ret_why = "out of memory";
    if (m == NULL)
        return -ENOMEM;
    p = packet_open(bytes, RESULT_SCHEMA, m, &root);
    read_result(&p, &r);
    err = packet_end(&p);
    json_decref(root);
    if (err != 0) {
        *ret_why = p.why;
        result_free(&r);
        return err;
    }
    *ret_r = r;
    return 0;
}

void result_free(struct result *r)
{
    packet_memory_free(r->memory);
    r->memory = NULL;
}

int result_digest(const struct result *r, uint8_t ret_digest[32])
{
    struct result same = *r;
    char *bytes = NULL;
    size_t n = 0;
    int err;

    same.run = 0;
    same.worker = span_of(NULL, 0);
    err = result_write(&same, &bytes, &n);
    if (err != 0)
        return err;
    sha256(span_of(bytes, n), ret_digest);
    free(bytes);
    return 0;
}
