/*
 * differences.c - the payload `differences`: JSON out, and strictly back in.
 * The texts of one that was read live in its JSON tree, token bytes in one
 * buffer beside it; no part of the tree is walked twice.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/differences.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "assay.differences/1"

struct memory {
    json_t *root;
    uint8_t *bytes; /* decoded token bytes, n used */
    size_t n;
};

/* Writing. */

static json_t *hex_string(struct span bytes)
{
    static const char digit[] = "0123456789abcdef";
    char *text;
    json_t *s;

    if (bytes.p == NULL)
        return json_null();
    text = malloc(2 * bytes.n + 1);
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < bytes.n; i++) {
        text[2 * i] = digit[bytes.p[i] >> 4];
        text[2 * i + 1] = digit[bytes.p[i] & 15];
    }
    s = json_stringn(text, 2 * bytes.n);
    free(text);
    return s;
}

static json_t *side_json(const struct difference_side *s)
{
    char bits[9];

    if (!s->present)
        return json_null();
    (void)snprintf(bits, sizeof bits, "%08" PRIx32, s->bits);
    return json_pack("{s:o,s:o,s:o}", "id",
                     s->id < 0 ? json_null() : json_integer(s->id), "bytes",
                     hex_string(s->bytes), "bits",
                     s->has_bits ? json_string(bits) : json_null());
}

static json_t *row_json(const struct difference_row *r)
{
    return json_pack("{s:I,s:I,s:o,s:o}", "choice", (json_int_t)r->choice,
                     "position", (json_int_t)r->position, "claimed",
                     side_json(&r->claimed), "recomputed",
                     side_json(&r->recomputed));
}

static json_t *text_json(struct span s)
{
    return json_stringn(s.n == 0 ? "" : (const char *)s.p, s.n);
}

static json_t *field_json(const struct difference_field *f)
{
    return json_pack("{s:o,s:o,s:o}", "field", text_json(f->name), "claimed",
                     text_json(f->claimed), "recomputed",
                     text_json(f->recomputed));
}

static json_t *rows_json(const struct differences *d)
{
    json_t *a = json_array();

    for (size_t i = 0; i < d->n_rows; i++)
        if (json_array_append_new(a, row_json(&d->rows[i])) != 0)
            goto bad;
    return a;
bad:
    json_decref(a);
    return NULL;
}

static json_t *fields_json(const struct differences *d)
{
    json_t *a = json_array();

    for (size_t i = 0; i < d->n_fields; i++)
        if (json_array_append_new(a, field_json(&d->fields[i])) != 0)
            goto bad;
    return a;
bad:
    json_decref(a);
    return NULL;
}

static json_t *sides_json(const struct difference_side *s, size_t n)
{
    json_t *a = json_array();

    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(a, side_json(&s[i])) != 0)
            goto bad;
    return a;
bad:
    json_decref(a);
    return NULL;
}

int differences_write(const struct differences *d, char **ret_bytes,
                      size_t *ret_n)
{
    json_t *root;
    char *text = NULL;

    root = json_pack("{s:s,s:o,s:{s:o,s:o},s:o}", "schema", SCHEMA, "rows",
                     rows_json(d), "top", "claimed",
                     sides_json(d->top_claimed, d->n_top_claimed), "recomputed",
                     sides_json(d->top_recomputed, d->n_top_recomputed),
                     "envelope", fields_json(d));
    if (root == NULL)
        return -EINVAL;
    text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    if (text == NULL)
        return -ENOMEM;
    *ret_bytes = text;
    *ret_n = strlen(text);
    return 0;
}

/* Reading. Each step answers false at the first thing that is not so. */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static bool read_hex(struct memory *m, json_t *v, struct span *ret_s)
{
    const char *text = json_string_value(v);
    size_t n = json_string_length(v);
    uint8_t *out = m->bytes + m->n;

    if (json_is_null(v)) {
        *ret_s = (struct span){NULL, 0};
        return true;
    }
    if (text == NULL || n % 2 != 0)
        return false;
    for (size_t i = 0; i < n / 2; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    m->n += n / 2;
    *ret_s = (struct span){out, n / 2};
    return true;
}

static bool read_bits(json_t *v, struct difference_side *s)
{
    const char *text = json_string_value(v);

    s->has_bits = !json_is_null(v);
    if (!s->has_bits)
        return true;
    if (text == NULL || json_string_length(v) != 8)
        return false;
    for (size_t i = 0; i < 8; i++) {
        int digit = hex_digit(text[i]);

        if (digit < 0)
            return false;
        s->bits = s->bits << 4 | (uint32_t)digit;
    }
    return true;
}

static bool read_side(struct memory *m, json_t *v, struct difference_side *s)
{
    json_t *id, *bytes, *bits;

    s->id = -1;
    if (json_is_null(v))
        return true;
    if (json_unpack_ex(v, NULL, JSON_STRICT, "{s:o,s:o,s:o}", "id", &id,
                       "bytes", &bytes, "bits", &bits) != 0)
        return false;
    s->present = true;
    if (json_is_integer(id) && json_integer_value(id) >= 0)
        s->id = json_integer_value(id);
    else if (!json_is_null(id))
        return false;
    return read_hex(m, bytes, &s->bytes) && read_bits(bits, s);
}

static bool read_row(struct memory *m, json_t *v, struct difference_row *r)
{
    json_int_t choice, position;
    json_t *claimed, *recomputed;

    if (json_unpack_ex(v, NULL, JSON_STRICT, "{s:I,s:I,s:o,s:o}", "choice",
                       &choice, "position", &position, "claimed", &claimed,
                       "recomputed", &recomputed) != 0)
        return false;
    if (choice < 0 || choice > UINT32_MAX || position < 0 ||
        position > UINT32_MAX)
        return false;
    r->choice = (uint32_t)choice;
    r->position = (uint32_t)position;
    return read_side(m, claimed, &r->claimed) &&
           read_side(m, recomputed, &r->recomputed);
}

static bool read_field(json_t *v, struct difference_field *f)
{
    const char *name, *claimed, *recomputed;
    size_t n_name, n_claimed, n_recomputed;

    if (json_unpack_ex(v, NULL, JSON_STRICT, "{s:s%,s:s%,s:s%}", "field", &name,
                       &n_name, "claimed", &claimed, &n_claimed, "recomputed",
                       &recomputed, &n_recomputed) != 0)
        return false;
    f->name = span_of(name, n_name);
    f->claimed = span_of(claimed, n_claimed);
    f->recomputed = span_of(recomputed, n_recomputed);
    return true;
}

/* An array of v's length and one more, so that NULL means no memory. */
static void *array_for(json_t *v, size_t size)
{
    return calloc(json_array_size(v) + 1, size);
}

static bool read_rows(json_t *v, struct differences *d)
{
    if (!json_is_array(v) || json_array_size(v) > DIFFERENCES_ROWS_MAX)
        return false;
    d->rows = array_for(v, sizeof *d->rows);
    if (d->rows == NULL)
        return false;
    for (; d->n_rows < json_array_size(v); d->n_rows++)
        if (!read_row(d->memory, json_array_get(v, d->n_rows),
                      &d->rows[d->n_rows]))
            return false;
    return true;
}

static bool read_sides(struct memory *m, json_t *v,
                       struct difference_side **ret_s, size_t *ret_n)
{
    if (!json_is_array(v))
        return false;
    *ret_s = array_for(v, sizeof **ret_s);
    if (*ret_s == NULL)
        return false;
    for (; *ret_n < json_array_size(v); (*ret_n)++)
        if (!read_side(m, json_array_get(v, *ret_n), &(*ret_s)[*ret_n]))
            return false;
    return true;
}

static bool read_fields(json_t *v, struct differences *d)
{
    if (!json_is_array(v))
        return false;
    d->fields = array_for(v, sizeof *d->fields);
    if (d->fields == NULL)
        return false;
    for (; d->n_fields < json_array_size(v); d->n_fields++)
        if (!read_field(json_array_get(v, d->n_fields),
                        &d->fields[d->n_fields]))
            return false;
    return true;
}

static const char *read_root(struct memory *m, struct differences *d)
{
    const char *schema;
    json_t *rows, *claimed, *recomputed, *fields;

    if (json_unpack_ex(m->root, NULL, JSON_STRICT,
                       "{s:s,s:o,s:{s:o,s:o !},s:o}", "schema", &schema, "rows",
                       &rows, "top", "claimed", &claimed, "recomputed",
                       &recomputed, "envelope", &fields) != 0)
        return "not the keys of assay.differences/1";
    if (strcmp(schema, SCHEMA) != 0)
        return "unknown schema";
    if (!read_rows(rows, d))
        return "malformed rows";
    if (!read_sides(m, claimed, &d->top_claimed, &d->n_top_claimed) ||
        !read_sides(m, recomputed, &d->top_recomputed, &d->n_top_recomputed))
        return "malformed top";
    if (!read_fields(fields, d))
        return "malformed envelope";
    return NULL;
}

int differences_read(struct span bytes, struct differences *ret_d,
                     const char **ret_why)
{
    struct differences d = {0};
    struct memory *m = calloc(1, sizeof *m);

    if (m == NULL)
        return -ENOMEM;
    d.memory = m;
    *ret_why = "not JSON";
    m->root = json_loadb((const char *)bytes.p, bytes.n,
                         JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    m->bytes = malloc(bytes.n + 1); /* hex is twice as long as its bytes */
    if (m->root != NULL && m->bytes != NULL)
        *ret_why = read_root(m, &d);
    if (*ret_why != NULL) {
        differences_free(&d);
        return -EBADMSG;
    }
    *ret_d = d;
    return 0;
}

void differences_free(struct differences *d)
{
    struct memory *m = d->memory;

    if (m != NULL) {
        free(d->rows);
        free(d->top_claimed);
        free(d->top_recomputed);
        free(d->fields);
        free(m->bytes);
        json_decref(m->root);
        free(m);
    }
    *d = (struct differences){0};
}
