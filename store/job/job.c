/*
 * job.c - job packets and claims: their JSON bytes from and to the structs of
 * store/job.h. The form is drawn there; results are in result.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "job/packet.h"

#define JOB_SCHEMA   "assay.job/1"
#define CLAIM_SCHEMA "assay.claim/1"

static const char *const modes[] = {[JOB_BLIND] = "blind",
                                    [JOB_FORCED] = "forced",
                                    [JOB_SEARCH] = "search",
                                    [JOB_AGAIN] = "again",
                                    [JOB_NONE] = "none"};

/* One of the first n modes. */
static enum job_mode read_mode(struct packet *p, size_t n)
{
    struct span s;

    packet_text(p, "mode", &s, "mode is missing or not a text");
    for (size_t i = 0; !p->failed && i < n; i++)
        if (span_eq_str(s, modes[i]))
            return (enum job_mode)i;
    packet_fail(p, "mode is not a known one");
    return JOB_BLIND;
}

/* Decimal text, without leading zeros, as the records write it. */
static int64_t read_ns(struct packet *p, const char *key, const char *why)
{
    struct span s;
    int64_t v = 0;

    packet_text(p, key, &s, why);
    if (p->failed)
        return 0;
    if (s.n == 0 || (s.n > 1 && s.p[0] == '0'))
        packet_fail(p, why);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, s.p[i] - '0', &v)) {
            packet_fail(p, why);
            return 0;
        }
    return v;
}

static json_t *new_ns(int64_t ns)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRId64, ns); /* fits by its size */
    return json_string(text);
}

static json_t *new_or_null(struct span s, json_t *(*make)(struct span))
{
    return s.n == 0 ? json_null() : make(s);
}

static json_t *new_array(const struct span *s, size_t n,
                         json_t *(*make)(struct span), bool *failed)
{
    json_t *a = json_array();

    for (size_t i = 0; i < n; i++)
        packet_add(a, make(s[i]), failed);
    return a;
}

static json_t *new_exchange(const struct job_exchange *e, bool *bad)
{
    json_t *o = json_object();

    packet_set(o, "api", packet_new_text(e->api), bad);
    packet_set(o, "streamed", json_boolean(e->streamed), bad);
    packet_set(o, "request", packet_new_base64(e->request), bad);
    packet_set(o, "response", packet_new_base64(e->response), bad);
    packet_set(o, "request_ns", new_ns(e->request_ns), bad);
    packet_set(o, "answer_ns", new_ns(e->answer_ns), bad);
    return o;
}

static void set_exchanges(json_t *o, const struct job *j, bool *bad)
{
    json_t *a = json_array();

    for (size_t i = 0; i < j->n_exchanges; i++)
        packet_add(a, new_exchange(&j->exchanges[i], bad), bad);
    packet_set(o, "exchanges", a, bad);
    packet_set(o, "left_beside", packet_new_u64(j->left_beside), bad);
    packet_set(o, "left_before", packet_new_u64(j->left_before), bad);
}

int job_write(const struct job *j, char **ret_bytes, size_t *ret_n)
{
    json_t *o = json_object();
    bool bad = false;

    packet_set(o, "schema", json_string(JOB_SCHEMA), &bad);
    packet_set(o, "epoch", packet_new_u64(j->epoch), &bad);
    packet_set(o, "unit", packet_new_hex(span_of(j->unit, 32)), &bad);
    packet_set(o, "nonce", packet_new_hex(span_of(j->nonce, 16)), &bad);
    packet_set(o, "mode", json_string(modes[j->mode]), &bad);
    packet_set(o, "runs", packet_new_u64(j->runs), &bad);
    packet_set(o, "api", packet_new_text(j->api), &bad);
    packet_set(o, "request", packet_new_base64(j->request), &bad);
    packet_set(o, "request_ns", new_ns(j->request_ns), &bad);
    packet_set(o, "model", packet_new_text(j->model), &bad);
    packet_set(o, "manifest", new_or_null(j->manifest, packet_new_text), &bad);
    packet_set(o, "steps",
               new_array(j->steps, j->n_steps, packet_new_text, &bad), &bad);
    packet_set(o, "messages",
               new_array(j->messages, j->n_messages, packet_new_base64, &bad),
               &bad);
    packet_set(o, "claimed", new_or_null(j->claimed, packet_new_base64), &bad);
    if (j->mode == JOB_SEARCH || j->mode == JOB_AGAIN)
        set_exchanges(o, j, &bad);
    return packet_dump(o, bad, ret_bytes, ret_n);
}

/* A list in the packet: its key, what to say when it is wrong, its elements. */
struct list {
    const char *key, *why;
    bool (*element)(struct packet *, const json_t *, struct span *);
};

/* All elements of an array as spans in the packet's memory. */
static void read_spans(struct packet *p, const struct list *l,
                       struct span **ret_s, size_t *ret_n)
{
    const json_t *a = packet_array(p, l->key, l->why);
    size_t n = json_array_size(a);

    *ret_s = NULL;
    *ret_n = 0;
    if (a == NULL)
        return;
    *ret_s = packet_alloc(p->memory, n, sizeof **ret_s);
    if (*ret_s == NULL) {
        p->no_memory = true;
        packet_fail(p, "out of memory");
        return;
    }
    *ret_n = n;
    for (size_t i = 0; i < n; i++)
        if (!l->element(p, json_array_get(a, i), &(*ret_s)[i]))
            packet_fail(p, l->why);
}

static uint32_t read_runs(struct packet *p)
{
    static const char why[] = "runs is missing or not 1 to 1000";
    uint64_t runs;

    packet_u64(p, "runs", 1000, &runs, why);
    if (!p->failed && runs == 0)
        packet_fail(p, why);
    return (uint32_t)runs;
}

static void read_exchange(struct packet *parent, const json_t *object,
                          struct job_exchange *e)
{
    struct packet p = packet_in(parent, object);

    packet_text(&p, "api", &e->api, "api is missing or not a text");
    packet_bool(&p, "streamed", &e->streamed,
                "streamed is missing or not true or false");
    packet_base64(&p, "request", &e->request,
                  "request is missing or not base64");
    packet_base64(&p, "response", &e->response,
                  "response is missing or not base64");
    e->request_ns = read_ns(&p, "request_ns",
                            "request_ns is missing or not a decimal text");
    e->answer_ns =
        read_ns(&p, "answer_ns", "answer_ns is missing or not a decimal text");
    packet_join(parent, &p);
}

static void read_exchanges(struct packet *p, struct job *j)
{
    static const char why[] = "exchanges is missing or not a list";
    const json_t *a = packet_array(p, "exchanges", why);
    size_t n = json_array_size(a);

    packet_u64(p, "left_beside", INT64_MAX, &j->left_beside,
               "left_beside is missing or not a number");
    packet_u64(p, "left_before", INT64_MAX, &j->left_before,
               "left_before is missing or not a number");
    if (!p->failed && n == 0)
        packet_fail(p, "a search must have its own exchange");
    j->exchanges = packet_alloc(p->memory, n, sizeof *j->exchanges);
    if (j->exchanges == NULL) {
        p->no_memory = true;
        packet_fail(p, "out of memory");
    }
    for (size_t i = 0; !p->failed && i < n; i++) {
        read_exchange(p, json_array_get(a, i), &j->exchanges[i]);
        j->n_exchanges = i + 1;
    }
}

static void read_job(struct packet *p, struct job *j)
{
    static const struct list steps = {
        "steps", "steps is missing or not a list of texts", packet_value_text};
    static const struct list messages = {
        "messages", "messages is missing or not a list of base64",
        packet_value_base64};
    packet_u64(p, "epoch", INT64_MAX, &j->epoch,
               "epoch is missing or not a number");
    packet_hex(p, "unit", span_of(j->unit, 32),
               "unit is missing or not 32 bytes in hex");
    packet_hex(p, "nonce", span_of(j->nonce, 16),
               "nonce is missing or not 16 bytes in hex");
    j->mode = read_mode(p, JOB_NONE);
    j->runs = read_runs(p);
    packet_text(p, "api", &j->api, "api is missing or not a text");
    packet_base64(p, "request", &j->request,
                  "request is missing or not base64");
    j->request_ns =
        read_ns(p, "request_ns", "request_ns is missing or not a decimal text");
    packet_text(p, "model", &j->model, "model is missing or not a text");
    packet_text_or_null(p, "manifest", &j->manifest,
                        "manifest is missing or neither text nor null");
    read_spans(p, &steps, &j->steps, &j->n_steps);
    read_spans(p, &messages, &j->messages, &j->n_messages);
    packet_base64_or_null(p, "claimed", &j->claimed,
                          "claimed is missing or neither base64 nor null");
    if (!p->failed && (j->mode == JOB_SEARCH || j->mode == JOB_AGAIN))
        read_exchanges(p, j);
    if (!p->failed && j->mode == JOB_BLIND && j->claimed.n != 0)
        packet_fail(p, "a blind job must not know what was claimed");
}

int job_read(struct span bytes, struct job *ret_j, const char **ret_why)
{
    struct packet_memory *m = packet_memory_open();
    struct job j = {.memory = m};
    json_t *root = NULL;
    struct packet p;
    int err;

    *ret_why = "out of memory";
    if (m == NULL)
        return -ENOMEM;
    p = packet_open(bytes, JOB_SCHEMA, m, &root);
    read_job(&p, &j);
    err = packet_end(&p);
    json_decref(root);
    if (err != 0) {
        *ret_why = p.why;
        job_free(&j);
        return err;
    }
    *ret_j = j;
    return 0;
}

void job_free(struct job *j)
{
    packet_memory_free(j->memory);
    j->memory = NULL;
}

int claim_write(const struct claim *c, char **ret_bytes, size_t *ret_n)
{
    json_t *o = json_object();
    bool bad = false;

    packet_set(o, "schema", json_string(CLAIM_SCHEMA), &bad);
    packet_set(o, "epoch", packet_new_u64(c->epoch), &bad);
    packet_set(o, "unit", packet_new_hex(span_of(c->unit, 32)), &bad);
    packet_set(o, "nonce", packet_new_hex(span_of(c->nonce, 16)), &bad);
    packet_set(o, "api", packet_new_text(c->api), &bad);
    packet_set(o, "mode", json_string(modes[c->mode]), &bad);
    packet_set(o, "status", packet_new_u64(c->status), &bad);
    packet_set(o, "streamed", json_boolean(c->streamed), &bad);
    packet_set(o, "model", packet_new_text(c->model), &bad);
    packet_set(o, "request", packet_new_base64(c->request), &bad);
    packet_set(o, "response", packet_new_base64(c->response), &bad);
    packet_set(o, "manifest", packet_new_hex(span_of(c->manifest, 32)), &bad);
    packet_set(o, "runs", packet_new_u64(c->runs), &bad);
    packet_set(o, "reason", packet_new_text(c->reason), &bad);
    return packet_dump(o, bad, ret_bytes, ret_n);
}

static void read_claim(struct packet *p, struct claim *c)
{
    uint64_t status;

    packet_u64(p, "epoch", INT64_MAX, &c->epoch,
               "epoch is missing or not a number");
    packet_hex(p, "unit", span_of(c->unit, 32),
               "unit is missing or not 32 bytes in hex");
    packet_hex(p, "nonce", span_of(c->nonce, 16),
               "nonce is missing or not 16 bytes in hex");
    packet_text(p, "api", &c->api, "api is missing or not a text");
    c->mode = read_mode(p, JOB_NONE + 1);
    packet_u64(p, "status", UINT32_MAX, &status,
               "status is missing or not a number");
    c->status = (uint32_t)status;
    packet_bool(p, "streamed", &c->streamed,
                "streamed is missing or not true or false");
    packet_text(p, "model", &c->model, "model is missing or not a text");
    packet_base64(p, "request", &c->request,
                  "request is missing or not base64");
    packet_base64(p, "response", &c->response,
                  "response is missing or not base64");
    packet_hex(p, "manifest", span_of(c->manifest, 32),
               "manifest is missing or not 32 bytes in hex");
    c->runs = read_runs(p);
    packet_text(p, "reason", &c->reason, "reason is missing or not a text");
    if (!p->failed && (c->mode == JOB_NONE) != (c->reason.n != 0))
        packet_fail(p, "exactly a claim without a job has a reason");
}

int claim_read(struct span bytes, struct claim *ret_c, const char **ret_why)
{
    struct packet_memory *m = packet_memory_open();
    struct claim c = {.memory = m};
    json_t *root = NULL;
    struct packet p;
    int err;

    *ret_why = "out of memory";
    if (m == NULL)
        return -ENOMEM;
    p = packet_open(bytes, CLAIM_SCHEMA, m, &root);
    read_claim(&p, &c);
    err = packet_end(&p);
    json_decref(root);
    if (err != 0) {
        *ret_why = p.why;
        claim_free(&c);
        return err;
    }
    *ret_c = c;
    return 0;
}

void claim_free(struct claim *c)
{
    packet_memory_free(c->memory);
    c->memory = NULL;
}
