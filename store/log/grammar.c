/*
 * grammar.c - is this the leaf of a known kind? Comes in: text. Goes out: its
 * kind, or the first rule of kind.h that it breaks. Driven by the table alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/base64.h"
#include "store/kind.h"
#include "store/record.h"

#define HEAD "assay-rec/v1\n"

enum { COLUMNS_MAX = 16, COMMITMENT_BYTES = 32, PAYLOAD_KEY = 64 };

/* A walk over lines with one line of look-ahead. */
struct walk {
    struct cursor lines;
    struct field f;
    bool more; /* f is a line not yet taken */
    const char *why;
};

static bool fail(struct walk *w, const char *why)
{
    if (w->why == NULL)
        w->why = why;
    return false;
}

/* Two head lines in a row would be skipped by record_next: not here. */
static void advance(struct walk *w)
{
    bool bad;

    if (cursor_left(&w->lines) >= strlen(HEAD) &&
        memcmp(w->lines.p, HEAD, strlen(HEAD)) == 0)
        fail(w, "a head line stands inside the record");
    w->more = record_next(&w->lines, &w->f, &bad);
    if (bad)
        fail(w, "a line is not \"key SP value LF\"");
}

static struct walk walk_of(struct span text)
{
    struct walk w = {cursor_of(text), .more = false, .why = NULL};

    advance(&w);
    return w;
}

static bool at_key(const struct walk *w, const char *key)
{
    return w->more && span_eq_str(w->f.key, key);
}

static bool is_u64(struct span value)
{
    uint64_t v;

    return record_parse_u64(value, &v) == PARSE_OK;
}

static bool is_hex(struct span value)
{
    if (span_eq_str(value, "-"))
        return true;
    for (size_t i = 0; i < value.n; i++) {
        uint8_t c = value.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return value.n != 0 && value.n % 2 == 0;
}

static bool is_text(struct span value)
{
    char out[RECORD_MAX];
    size_t n;

    return record_parse_text(value, out, sizeof(out), &n) == PARSE_OK;
}

static bool is_value(enum value_type type, struct span value)
{
    switch (type) {
    case VALUE_U64:
        return is_u64(value);
    case VALUE_HEX:
        return is_hex(value);
    case VALUE_TEXT:
        return is_text(value);
    }
    return false;
}

static bool check_columns(struct walk *w, const struct column *c)
{
    struct span part[COLUMNS_MAX + 1];
    size_t n = record_split(w->f.value, part, COLUMNS_MAX + 1);
    size_t i = 0;

    for (; c[i].name != NULL; i++)
        if (i >= n || !is_value(c[i].type, part[i]))
            return fail(w, "a column is missing or not of its type");
    if (i != n)
        return fail(w, "too many columns");
    return true;
}

static bool check_value(struct walk *w, const struct key *k)
{
    if (k->columns != NULL)
        return check_columns(w, k->columns);
    if (!is_value(k->type, w->f.value))
        return fail(w, "a value is not of its key's type");
    return true;
}

static bool check_keys(struct walk *w, const struct kind *kind)
{
    for (const struct key *k = kind->keys; k->name != NULL; k++) {
        if (!k->many && !at_key(w, k->name))
            return fail(w, "a key is missing or out of order");
        while (at_key(w, k->name)) {
            if (!check_value(w, k))
                return false;
            advance(w);
            if (!k->many)
                break;
        }
    }
    return w->why == NULL;
}

/* NAME_commit or NAME_len; the names are those of the table and short. */
static void payload_key(struct span name, const char *end,
                        char ret_key[PAYLOAD_KEY])
{
    int n = snprintf(ret_key, PAYLOAD_KEY, "%.*s_%s", (int)name.n,
                     (const char *)name.p, end);

    assert(n > 0 && n < PAYLOAD_KEY);
}

/* NAME_commit, NAME_len of one payload, if it is there. */
static bool check_payload(struct walk *w, struct span name)
{
    uint8_t commitment[COMMITMENT_BYTES];
    char key[PAYLOAD_KEY];
    size_t n;

    payload_key(name, "commit", key);
    if (!at_key(w, key))
        return true;
    if (base64_decode(w->f.value, commitment, sizeof(commitment), &n) !=
            PARSE_OK ||
        n != sizeof(commitment))
        return fail(w, "a commitment is not 32 bytes in base64");
    advance(w);
    payload_key(name, "len", key);
    if (!at_key(w, key) || !is_u64(w->f.value))
        return fail(w, "a payload has no length");
    advance(w);
    return w->why == NULL;
}

static bool check_payloads(struct walk *w, const struct kind *kind)
{
    const char *p = kind->payloads;

    while (*p != '\0') {
        size_t n = strcspn(p, " ");

        if (!check_payload(w, span_of(p, n)))
            return false;
        p += n;
        p += strspn(p, " ");
    }
    return true;
}

static bool at_end(struct walk *w)
{
    if (w->more)
        return fail(w, "a key is not one of its kind, or out of order");
    return w->why == NULL;
}

/* type, seq and time_ns. */
static const struct kind *check_head(struct walk *w)
{
    const struct kind *kind;

    if (!at_key(w, "type")) {
        fail(w, "the second line is not its type");
        return NULL;
    }
    kind = kind_of(w->f.value);
    if (kind == NULL) {
        fail(w, "no such kind");
        return NULL;
    }
    advance(w);
    if (!at_key(w, "seq") || !is_u64(w->f.value))
        fail(w, "no sequence number");
    advance(w);
    if (!at_key(w, "time_ns") || !is_u64(w->f.value))
        fail(w, "no time");
    advance(w);
    return kind;
}

const struct kind *record_check(struct span leaf, const char **ret_why)
{
    const struct kind *kind;
    struct walk w;
    size_t n = strlen(HEAD);

    if (leaf.n > RECORD_MAX) {
        *ret_why = "the record is too long";
        return NULL;
    }
    if (leaf.n < n || memcmp(leaf.p, HEAD, n) != 0) {
        *ret_why = "the first line is not assay-rec/v1";
        return NULL;
    }
    w = walk_of(span_of(leaf.p + n, leaf.n - n));
    kind = check_head(&w);
    if (kind == NULL || !check_keys(&w, kind) || !check_payloads(&w, kind) ||
        !at_end(&w)) {
        *ret_why = w.why;
        return NULL;
    }
    return kind;
}

bool record_check_body(const struct kind *k, struct span body,
                       const char **ret_why)
{
    struct walk w = walk_of(body);

    if (check_keys(&w, k) && at_end(&w))
        return true;
    *ret_why = w.why;
    return false;
}
