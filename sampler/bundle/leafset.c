/*
 * leafset.c - splitting a text into leaves, and reading their fields.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/leafset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/record.h"

#define HEAD "assay-rec/v1\n"

enum { HEAD_BYTES = sizeof HEAD - 1, HEAD_LINES = 4 };

static bool at_head(const uint8_t *p, const uint8_t *end)
{
    return (size_t)(end - p) >= HEAD_BYTES && memcmp(p, HEAD, HEAD_BYTES) == 0;
}

/* The record that starts at p: up to the next head line, or to the end. */
static struct span next_record(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;

    do {
        const uint8_t *lf = memchr(p, '\n', (size_t)(end - p));

        p = lf == NULL ? end : lf + 1;
    } while (p < end && !at_head(p, end));
    return span_of(start, (size_t)(p - start));
}

static size_t count_records(struct span text)
{
    const uint8_t *p = text.p, *end = text.n == 0 ? p : p + text.n;
    size_t n = 0;

    for (; p < end; n++)
        p += next_record(p, end).n;
    return n;
}

/* Fills leaf i of s; NULL or what is wrong. */
static const char *fill(struct leafset *s, size_t i, struct span bytes)
{
    struct bundle_leaf *l = &s->leaves[i];

    l->bytes = bytes;
    l->kind = kind_of(record_find(bytes, "type"));
    if (!at_head(bytes.p, bytes.p + bytes.n))
        return "text stands outside a record";
    if (record_parse_u64(record_find(bytes, "seq"), &l->seq) != PARSE_OK)
        return "a record has no seq";
    if (i > 0 && s->leaves[i - 1].seq == l->seq)
        return "a record stands twice";
    if (i > 0 && s->leaves[i - 1].seq > l->seq)
        return "records are not in order";
    return NULL;
}

enum parse leafset_parse(struct span text, struct leafset *ret_s,
                         size_t *ret_at, const char **ret_why)
{
    struct leafset s = {calloc(count_records(text) + 1, sizeof *s.leaves), 0};
    const uint8_t *p = text.p, *end = text.n == 0 ? p : p + text.n;

    *ret_why = s.leaves == NULL ? "out of memory" : NULL;
    for (; *ret_why == NULL && p < end; s.n++) {
        struct span bytes = next_record(p, end);

        *ret_why = fill(&s, s.n, bytes);
        *ret_at = s.n;
        p += bytes.n;
    }
    if (*ret_why != NULL) {
        leafset_fini(&s);
        return PARSE_BAD;
    }
    *ret_s = s;
    return PARSE_OK;
}

void leafset_fini(struct leafset *s)
{
    free(s->leaves);
    s->leaves = NULL;
    s->n = 0;
}

size_t leafset_from(const struct leafset *s, uint64_t seq)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (s->leaves[mid].seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool leaf_is(const struct bundle_leaf *l, const char *kind)
{
    return l->kind != NULL && strcmp(l->kind->name, kind) == 0;
}

bool leaf_u64(const struct bundle_leaf *l, const char *key, uint64_t *ret_v)
{
    return record_parse_u64(record_find(l->bytes, key), ret_v) == PARSE_OK;
}

bool leaf_hex(const struct bundle_leaf *l, const char *key, uint8_t *out,
              size_t size)
{
    return record_parse_hex(record_find(l->bytes, key), out, size) == PARSE_OK;
}

bool leaf_text(const struct bundle_leaf *l, const char *key, char *out,
               size_t size)
{
    struct span value = record_find(l->bytes, key);
    char text[RECORD_MAX];
    size_t n;

    if (value.p == NULL || value.n > sizeof text ||
        record_parse_text(value, text, sizeof text, &n) != PARSE_OK ||
        n >= size || memchr(text, 0, n) != NULL)
        return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

bool leaf_has(const struct bundle_leaf *l, const char *key, uint64_t v)
{
    uint64_t found;

    return leaf_u64(l, key, &found) && found == v;
}

struct span leaf_body(const struct bundle_leaf *l)
{
    const uint8_t *p = l->bytes.p, *end = p + l->bytes.n;

    for (int i = 0; i < HEAD_LINES && p < end; i++) {
        const uint8_t *lf = memchr(p, '\n', (size_t)(end - p));

        p = lf == NULL ? end : lf + 1;
    }
    return span_of(p, (size_t)(end - p));
}
