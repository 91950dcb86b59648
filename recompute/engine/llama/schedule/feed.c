/*
 * feed.c - a batch feed's messages to a plan: feed.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/feed.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "engine/llama/schedule/plan_op.h"
#include "store/record.h"

struct reader {
    struct feed *f;
    int err;
    uint64_t next;   /* number of the next message */
    int64_t last_ns; /* time of the last one that fits */
    bool in_hole;
    size_t n_ops, n_rows, n_requests; /* before the message being read */
    uint32_t slots;
    size_t ops_size, row_ops_size, requests_size, holes_size;
};

static void fail(struct reader *r, int err)
{
    if (r->err == 0)
        r->err = err;
}

static void add_op(struct reader *r, struct plan_op op)
{
    if (plan_add(&r->f->plan, &r->ops_size, op) != 0)
        fail(r, -ENOMEM);
}

static uint64_t number(struct reader *r, const json_t *o, const char *key,
                       uint64_t most)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        (uint64_t)json_integer_value(v) > most) {
        fail(r, -EBADMSG);
        return 0;
    }
    return (uint64_t)json_integer_value(v);
}

static void add_id(struct reader *r, struct slot_request *q, const json_t *v)
{
    uint32_t *ids = array_grow(q->ids, &q->ids_size, q->n_ids, 1, sizeof *ids);

    if (ids == NULL) {
        fail(r, -ENOMEM);
        return;
    }
    q->ids = ids;
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        json_integer_value(v) > UINT32_MAX)
        fail(r, -EBADMSG);
    q->ids[q->n_ids++] = (uint32_t)json_integer_value(v);
}

static void add_row(struct reader *r, struct slot_request *q, size_t row)
{
    size_t *rows =
        array_grow(q->rows, &q->rows_size, q->n_rows, 1, sizeof *rows);

    if (rows == NULL) {
        fail(r, -ENOMEM);
        return;
    }
    q->rows = rows;
    q->rows[q->n_rows++] = row;
}

/* The row that the next operation asks for. */
static void new_row(struct reader *r, struct slot_request *q)
{
    struct feed *f = r->f;
    size_t *ops =
        array_grow(f->row_ops, &r->row_ops_size, f->n_rows, 1, sizeof *ops);

    if (ops == NULL) {
        fail(r, -ENOMEM);
        return;
    }
    f->row_ops = ops;
    f->row_ops[f->n_rows] = f->plan.n;
    add_row(r, q, f->n_rows++);
}

static struct slot_request *find(const struct feed *f, const char *id,
                                 uint64_t choice)
{
    for (size_t i = f->n_requests;
         i-- > 0 && f->requests[i].hole == f->n_holes;)
        if (f->requests[i].choice == choice &&
            strcmp(f->requests[i].id, id) == 0)
            return &f->requests[i];
    return NULL;
}

/* A copied slot shares the row that chose the first tokens. */
static void share_row(struct reader *r, struct slot_request *q)
{
    const struct slot_request *first = find(r->f, q->id, 0);

    if (first == NULL || first == q || first->n_rows == 0)
        fail(r, -EBADMSG);
    else
        add_row(r, q, first->rows[0]);
}

static struct slot_request *begin(struct reader *r, const char *id,
                                  const json_t *m, int64_t time_ns)
{
    struct feed *f = r->f;
    struct slot_request *requests = array_grow(
        f->requests, &r->requests_size, f->n_requests, 1, sizeof *requests);
    const json_t *prompt = json_object_get(m, "prompt");
    struct slot_request *q;

    if (requests == NULL) {
        fail(r, -ENOMEM);
        return NULL;
    }
    f->requests = requests;
    q = &requests[f->n_requests++];
    *q = (struct slot_request){
        .id = strdup(id), .first_ns = time_ns, .hole = f->n_holes};
    if (q->id == NULL) {
        f->n_requests--;
        fail(r, -ENOMEM);
        return NULL;
    }
    q->choice = (uint32_t)number(r, m, "choice", UINT32_MAX);
    q->slot = (uint32_t)number(r, json_object_get(m, "params"), "slot",
                               LLAMA_SEQUENCES - 1);
    for (size_t i = 0; i < json_array_size(prompt); i++)
        add_id(r, q, json_array_get(prompt, i));
    q->n_prompt = q->n_ids;
    if (q->n_prompt == 0)
        fail(r, -EBADMSG);
    else if (number(r, m, "cached", UINT32_MAX) == q->n_prompt)
        share_row(r, q);
    return q;
}

/* The tokens of a member; past the prompt each is one more of the answer. */
static void add_tokens(struct reader *r, struct slot_request *q,
                       const json_t *m)
{
    const json_t *ids = json_object_get(m, "ids");
    uint64_t position = number(r, m, "start", UINT32_MAX);
    size_t n = json_array_size(ids);

    if (n == 0 || n != number(r, m, "n", UINT32_MAX))
        fail(r, -EBADMSG);
    for (size_t i = 0; r->err == 0 && i < n; i++, position++) {
        const json_t *v = json_array_get(ids, i);
        bool output = position + 1 >= q->n_prompt;

        if (position == q->n_ids)
            add_id(r, q, v);
        else if (position > q->n_ids ||
                 json_integer_value(v) != q->ids[position])
            fail(r, -EBADMSG);
        if (r->err != 0)
            return;
        if (output)
            new_row(r, q);
        add_op(r, (struct plan_op){.kind = PLAN_TOKEN,
                                   .output = output,
                                   .slot = q->slot,
                                   .id = q->ids[position],
                                   .position = (uint32_t)position});
    }
}

static void add_member(struct reader *r, const json_t *m, int64_t time_ns)
{
    const char *id = json_string_value(json_object_get(m, "id"));
    struct slot_request *q = NULL;

    if (id == NULL)
        fail(r, -EBADMSG);
    else if (json_object_get(m, "prompt") != NULL)
        q = begin(r, id, m, time_ns);
    else
        q = find(r->f, id, number(r, m, "choice", UINT32_MAX));
    if (q == NULL)
        fail(r, -EBADMSG);
    else
        add_tokens(r, q, m);
}

static void add_ops(struct reader *r, const json_t *ops)
{
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *v = json_array_get(ops, i);
        struct plan_op op;

        if (!json_is_string(v) ||
            plan_op_read(span_of(json_string_value(v), json_string_length(v)),
                         &op) != PARSE_OK ||
            op.kind == PLAN_TOKEN || op.kind == PLAN_DECODE ||
            op.kind == PLAN_HOLE)
            fail(r, -EBADMSG);
        else
            add_op(r, op);
    }
}

static int64_t time_of(struct reader *r, const json_t *root)
{
    const json_t *v = json_object_get(root, "time_ns");
    uint64_t ns = 0;

    if (!json_is_string(v) ||
        record_parse_u64(span_of(json_string_value(v), json_string_length(v)),
                         &ns) != PARSE_OK)
        fail(r, -EBADMSG);
    return (int64_t)ns;
}

static void request_fini(struct slot_request *q)
{
    free(q->id);
    free(q->ids);
    free(q->rows);
}

/* Nothing of the message being read was said. What it made of the requests
 * under way ends with them. */
static void take_back(struct reader *r)
{
    struct feed *f = r->f;

    while (f->n_requests > r->n_requests)
        request_fini(&f->requests[--f->n_requests]);
    for (size_t i = f->n_requests;
         i-- > 0 && f->requests[i].hole == f->n_holes;) {
        struct slot_request *q = &f->requests[i];

        while (q->n_rows > 0 && q->rows[q->n_rows - 1] >= r->n_rows)
            q->n_rows--;
        /* The last row's choice was not fed. */
        if (q->n_ids + 1 > q->n_prompt + q->n_rows)
            q->n_ids = q->n_prompt + q->n_rows - (q->n_rows > 0);
    }
    f->plan.n = r->n_ops;
    f->plan.slots = r->slots;
    f->n_rows = r->n_rows;
}

/* What comes next is not known. */
static void add_hole(struct reader *r)
{
    struct feed *f = r->f;
    struct feed_hole *holes;

    if (r->in_hole)
        return;
    holes = array_grow(f->holes, &r->holes_size, f->n_holes, 1, sizeof *holes);
    if (holes == NULL) {
        fail(r, -ENOMEM);
        return;
    }
    f->holes = holes;
    holes[f->n_holes++] = (struct feed_hole){r->last_ns, INT64_MAX};
    r->in_hole = true;
    add_op(r, (struct plan_op){.kind = PLAN_HOLE});
}

static void add_pass(struct reader *r, const json_t *root)
{
    const json_t *members = json_object_get(root, "members");
    int64_t time_ns = time_of(r, root);

    r->n_ops = r->f->plan.n;
    r->n_rows = r->f->n_rows;
    r->n_requests = r->f->n_requests;
    r->slots = r->f->plan.slots;
    add_ops(r, json_object_get(root, "ops"));
    for (size_t i = 0; r->err == 0 && i < json_array_size(members); i++)
        add_member(r, json_array_get(members, i), time_ns);
    add_op(r, (struct plan_op){.kind = PLAN_DECODE});
    if (r->err != 0) {
        take_back(r);
        return;
    }
    if (r->in_hole)
        r->f->holes[r->f->n_holes - 1].to_ns = time_ns;
    r->in_hole = false;
    r->last_ns = time_ns;
}

static void add_message(struct reader *r, struct span text)
{
    json_error_t error;
    json_t *root = json_loadb((const char *)text.p, text.n,
                              JSON_REJECT_DUPLICATES, &error);
    uint64_t seq = number(r, root, "seq", INT64_MAX);

    if (r->err == 0 && seq < r->next) {
        json_decref(root); /* again, or late */
        return;
    }
    if (r->err == 0 && seq > r->next)
        add_hole(r);
    if (r->err == 0) {
        r->next = seq + 1;
        add_pass(r, root);
    }
    if (r->err == -EBADMSG) {
        r->err = 0;
        add_hole(r);
    }
    json_decref(root);
}

int feed_read(const struct span *messages, size_t n, struct feed *ret_f)
{
    struct feed f = {0};
    struct reader r = {.f = &f, .last_ns = INT64_MIN};

    for (size_t i = 0; r.err == 0 && i < n; i++)
        add_message(&r, messages[i]);
    if (r.err != 0) {
        feed_fini(&f);
        return r.err;
    }
    *ret_f = f;
    return 0;
}

void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < f->n_requests; i++)
        request_fini(&f->requests[i]);
    free(f->requests);
    free(f->holes);
    free(f->row_ops);
    plan_fini(&f->plan);
    *f = (struct feed){0};
}
