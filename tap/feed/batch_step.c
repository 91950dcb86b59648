/*
 * batch_step.c - reading batch-feed messages, and splitting them into records.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/batch_step.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "store/record.h"
#include "store/sha256.h"

/* What is being read; the first complaint stands. */
struct reader {
    const char *why;
};

static void complain(struct reader *r, const char *why)
{
    if (r->why == NULL)
        r->why = why;
}

static uint64_t number(struct reader *r, const json_t *o, const char *key,
                       const char *why)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_integer(v) || json_integer_value(v) < 0) {
        complain(r, why);
        return 0;
    }
    return (uint64_t)json_integer_value(v);
}

static struct span text(struct reader *r, const json_t *o, const char *key,
                        const char *why)
{
    const json_t *v = json_object_get(o, key);
    struct span s = span_of(NULL, 0);

    if (json_is_string(v))
        s = span_of(json_string_value(v), json_string_length(v));
    if (s.n == 0 || s.n > BATCH_TEXT_MAX)
        complain(r, why);
    return s;
}

/* Decimal text: JSON numbers of that size do not survive all readers. */
static uint64_t decimal(struct reader *r, const json_t *o, const char *key,
                        const char *why)
{
    struct span s = text(r, o, key, why);
    uint64_t v = 0;

    if (s.n != 0 && record_parse_u64(s, &v) != PARSE_OK)
        complain(r, why);
    return v;
}

/* Every key of o stands in names, which end with NULL. */
static void only(struct reader *r, json_t *o, const char *const *names,
                 const char *why)
{
    for (void *it = json_object_iter(o); it != NULL;
         it = json_object_iter_next(o, it)) {
        const char *const *n = names;

        while (*n != NULL && strcmp(*n, json_object_iter_key(it)) != 0)
            n++;
        if (*n == NULL)
            complain(r, why);
    }
}

static void digest_ids(struct reader *r, const json_t *ids,
                       struct batch_member *m)
{
    size_t n = json_array_size(ids);
    uint8_t *be = malloc(n != 0 ? n * 4 : 1);

    if (be == NULL) {
        complain(r, "out of memory");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(ids, i);
        json_int_t id = json_is_integer(v) ? json_integer_value(v) : -1;

        if (id < 0 || id > UINT32_MAX)
            complain(r, "prompt: an id is no number of 32 bits");
        for (int k = 0; k < 4; k++)
            be[i * 4 + k] = (uint8_t)(id >> (24 - 8 * k));
    }
    sha256(span_of(be, n * 4), m->digest);
    m->prompt_n = n;
    m->has_digest = true;
    free(be);
}

static void read_prompt(struct reader *r, const json_t *o,
                        struct batch_member *m)
{
    const json_t *ids = json_object_get(o, "prompt");
    const json_t *digest = json_object_get(o, "prompt_digest");

    if (ids != NULL &&
        (digest != NULL || json_object_get(o, "prompt_n") != NULL))
        complain(r, "prompt: given twice");
    if (ids != NULL) {
        if (!json_is_array(ids))
            complain(r, "prompt: not a list");
        digest_ids(r, ids, m);
    } else if (digest != NULL) {
        if (!json_is_string(digest) ||
            record_parse_hex(
                span_of(json_string_value(digest), json_string_length(digest)),
                m->digest, sizeof m->digest) != PARSE_OK)
            complain(r, "prompt_digest: not 64 hex digits");
        m->has_digest = true;
        m->prompt_n = number(r, o, "prompt_n", "prompt_n: not a count");
    } else if (json_object_get(o, "prompt_n") != NULL) {
        complain(r, "prompt_n: without prompt_digest");
    }
}

/* The ids are the payload's, for a worker; the records leave them out. */
static void read_ids(struct reader *r, const json_t *o, uint64_t n)
{
    const json_t *ids = json_object_get(o, "ids");

    if (ids == NULL)
        return;
    if (!json_is_array(ids) || json_array_size(ids) != n)
        complain(r, "ids: not a list of n");
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *v = json_array_get(ids, i);
        json_int_t id = json_is_integer(v) ? json_integer_value(v) : -1;

        if (id < 0 || id > UINT32_MAX)
            complain(r, "ids: one is no number of 32 bits");
    }
}

static void read_member(struct reader *r, json_t *o, struct batch_member *m)
{
    static const char *const keys[] = {
        "id",     "choice",        "start",    "n",      "cached", "ids",
        "prompt", "prompt_digest", "prompt_n", "params", NULL};
    const json_t *params = json_object_get(o, "params");

    if (!json_is_object(o)) {
        complain(r, "members: one is no object");
        return;
    }
    only(r, o, keys, "members: unknown key");
    m->id = text(r, o, "id", "id: not a text of 1 to 256 bytes");
    m->choice = number(r, o, "choice", "choice: not a count");
    m->start = number(r, o, "start", "start: not a position");
    m->n = number(r, o, "n", "n: not a count");
    m->cached = number(r, o, "cached", "cached: not a count");
    read_prompt(r, o, m);
    read_ids(r, o, m->n);
    if (params != NULL && !json_is_object(params))
        complain(r, "params: not an object");
}

static void read_members(struct reader *r, const json_t *root,
                         struct batch_step *s)
{
    const json_t *list = json_object_get(root, "members");
    size_t n = json_array_size(list);

    if (!json_is_array(list) || n > BATCH_MEMBERS_MAX) {
        complain(r, "members: not a list of at most 65536");
        return;
    }
    s->members = calloc(n != 0 ? n : 1, sizeof *s->members);
    if (s->members == NULL) {
        complain(r, "out of memory");
        return;
    }
    s->n_members = n;
    for (size_t i = 0; i < n; i++)
        read_member(r, json_array_get(list, i), &s->members[i]);
}

static void read_ops(struct reader *r, const json_t *root, struct batch_step *s)
{
    const json_t *list = json_object_get(root, "ops");
    size_t n = json_array_size(list);

    if (list == NULL)
        return;
    s->ops =
        json_is_array(list) ? calloc(n != 0 ? n : 1, sizeof *s->ops) : NULL;
    if (s->ops == NULL) {
        complain(r, "ops: not a list");
        return;
    }
    s->n_ops = n;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);

        if (!json_is_string(v) || json_string_length(v) > BATCH_OP_MAX) {
            complain(r, "ops: one is no text of at most 512 bytes");
            return;
        }
        s->ops[i] = span_of(json_string_value(v), json_string_length(v));
    }
}

static void read_names(struct reader *r, const json_t *root,
                       struct batch_step *s)
{
    static const char why[] = "names: neither answers nor engine";

    s->names = span_str("answers");
    if (json_object_get(root, "names") == NULL)
        return;
    s->names = text(r, root, "names", why);
    if (!span_eq_str(s->names, "answers") && !span_eq_str(s->names, "engine"))
        complain(r, why);
}

static void read_root(struct reader *r, json_t *root, struct batch_step *s)
{
    static const char *const keys[] = {"assay",   "engine", "feed",    "names",
                                       "seq",     "step",   "time_ns", "padded",
                                       "members", "ops",    NULL};

    only(r, root, keys, "unknown key");
    if (!span_eq_str(text(r, root, "assay", "assay: missing"), "batch-step/1"))
        complain(r, "assay: not batch-step/1");
    s->engine = text(r, root, "engine", "engine: not a text of 1 to 256 bytes");
    s->feed = text(r, root, "feed", "feed: not a text of 1 to 256 bytes");
    read_names(r, root, s);
    s->seq = number(r, root, "seq", "seq: not a count");
    s->step = number(r, root, "step", "step: not a count");
    s->time_ns = decimal(r, root, "time_ns", "time_ns: not decimal text");
    s->padded = number(r, root, "padded", "padded: not a count");
    read_members(r, root, s);
    read_ops(r, root, s);
}

enum parse batch_step_read(struct span line, struct batch_step *ret_s,
                           const char **ret_why)
{
    struct reader r = {NULL};
    json_error_t error;
    json_t *root;

    memset(ret_s, 0, sizeof *ret_s);
    if (line.n > BATCH_MESSAGE_MAX) {
        *ret_why = "longer than 1 MiB";
        return PARSE_BAD;
    }
    root = json_loadb((const char *)line.p, line.n, JSON_REJECT_DUPLICATES,
                      &error);
    ret_s->json = root;
    if (!json_is_object(root))
        complain(&r, "not a JSON object");
    else
        read_root(&r, root, ret_s);
    if (r.why == NULL)
        return PARSE_OK;
    *ret_why = r.why;
    return PARSE_BAD;
}

void batch_step_free(struct batch_step *s)
{
    free(s->members);
    free(s->ops);
    json_decref(s->json);
    memset(s, 0, sizeof *s);
}

/* ---- records */

static void write_head(const struct batch_step *s, struct span tap,
                       uint64_t part, uint64_t parts, struct record *r)
{
    record_init(r);
    record_text(r, "tap", tap);
    record_text(r, "engine", s->engine);
    record_text(r, "feed", s->feed);
    record_text(r, "names", s->names);
    record_u64(r, "feed_seq", s->seq);
    record_u64(r, "step", s->step);
    record_u64(r, "step_ns", s->time_ns);
    record_u64(r, "padded", s->padded);
    record_u64(r, "part", part);
    record_u64(r, "parts", parts);
}

/* Line i of the members, then of the operations. */
static void write_line(const struct batch_step *s, size_t i, struct record *r)
{
    const struct batch_member *m = &s->members[i];

    if (i >= s->n_members) {
        record_text(r, "op", s->ops[i - s->n_members]);
        return;
    }
    record_begin(r, "member");
    record_add_text(r, m->id);
    record_add_u64(r, m->choice);
    record_add_u64(r, m->start);
    record_add_u64(r, m->n);
    record_add_u64(r, m->cached);
    record_add_u64(r, m->prompt_n);
    record_add_hex(r, span_of(m->digest, m->has_digest ? 32 : 0));
    record_end(r);
}

/* Writes lines from *i on for as long as they fit. */
static void write_lines(const struct batch_step *s, size_t *i, struct record *r)
{
    for (; *i < s->n_members + s->n_ops; (*i)++) {
        size_t n = r->n;

        write_line(s, *i, r);
        if (r->full) {
            r->n = n;
            r->full = false;
            return;
        }
    }
}

size_t batch_step_parts(const struct batch_step *s, struct span tap)
{
    struct record r;
    size_t i = 0, parts = 0;

    do {
        /* The widest numbers, so that no part grows when they are known. */
        write_head(s, tap, UINT32_MAX, UINT32_MAX, &r);
        write_lines(s, &i, &r);
        parts++;
    } while (i < s->n_members + s->n_ops);
    return parts;
}

void batch_step_record(const struct batch_step *s, struct span tap, size_t part,
                       size_t parts, struct record *r)
{
    struct record wide;
    size_t i = 0, end;

    for (size_t k = 1; k < part; k++) {
        write_head(s, tap, UINT32_MAX, UINT32_MAX, &wide);
        write_lines(s, &i, &wide);
    }
    end = i;
    write_head(s, tap, UINT32_MAX, UINT32_MAX, &wide);
    write_lines(s, &end, &wide);
    write_head(s, tap, part, parts, r);
    for (; i < end; i++)
        write_line(s, i, r);
}
