/*
 * packet.c - strict reading and plain writing of our own JSON objects.
 * Bytes of a file come in, spans and integers in one memory go out; or a JSON
 * tree comes in and its bytes go out. packet.h has the rules.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/base64.h"
#include "store/utf8.h"

struct block {
    struct block *next;
    max_align_t bytes[];
};

struct packet_memory {
    struct block *blocks;
};

struct packet_memory *packet_memory_open(void)
{
    return calloc(1, sizeof(struct packet_memory));
}

void packet_memory_free(struct packet_memory *m)
{
    struct block *next;

    if (m == NULL)
        return;
    for (struct block *b = m->blocks; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(m);
}

void *packet_alloc(struct packet_memory *m, size_t n, size_t size)
{
    size_t total;
    struct block *b;

    if (__builtin_mul_overflow(n, size, &total) ||
        __builtin_add_overflow(total, sizeof *b + 1, &total))
        return NULL;
    b = calloc(1, total);
    if (b == NULL)
        return NULL;
    b->next = m->blocks;
    m->blocks = b;
    return b->bytes;
}

void packet_fail(struct packet *p, const char *why)
{
    if (p->failed)
        return;
    p->failed = true;
    p->why = why;
}

static void *alloc(struct packet *p, size_t n)
{
    void *q = packet_alloc(p->memory, n, 1);

    if (q == NULL) {
        packet_fail(p, "out of memory");
        p->no_memory = true;
    }
    return q;
}

struct packet packet_open(struct span bytes, const char *schema,
                          struct packet_memory *m, json_t **ret_root)
{
    struct packet p = {.memory = m};
    struct span found;

    *ret_root = json_loadb((const char *)bytes.p, bytes.n,
                           JSON_REJECT_DUPLICATES, NULL);
    p.object = *ret_root;
    if (!json_is_object(p.object)) {
        packet_fail(&p, "the file is not one JSON object");
        return p;
    }
    packet_text(&p, "schema", &found, "schema is missing or not a text");
    if (!p.failed && !span_eq_str(found, schema))
        packet_fail(&p, "schema is not the expected one");
    return p;
}

struct packet packet_in(const struct packet *parent, const json_t *object)
{
    struct packet p = {.object = object, .memory = parent->memory};

    if (!json_is_object(object))
        packet_fail(&p, "an element is not a JSON object");
    return p;
}

int packet_end(struct packet *p)
{
    if (!p->failed && json_object_size(p->object) != p->n_read)
        packet_fail(p, "a key is not known");
    if (p->no_memory)
        return -ENOMEM;
    return p->failed ? -EBADMSG : 0;
}

void packet_join(struct packet *p, struct packet *inner)
{
    if (packet_end(inner) == 0)
        return;
    packet_fail(p, inner->why);
    p->no_memory = p->no_memory || inner->no_memory;
}

/* The value of a key that is there and of this type, else NULL. */
static const json_t *value(struct packet *p, const char *key, json_type type,
                           const char *why)
{
    const json_t *v;

    if (p->failed)
        return NULL;
    v = json_object_get(p->object, key);
    if (v == NULL || json_typeof(v) != type) {
        packet_fail(p, why);
        return NULL;
    }
    p->n_read++;
    return v;
}

/* Counts the key and says whether it is null. */
static bool is_null(struct packet *p, const char *key)
{
    if (p->failed || !json_is_null(json_object_get(p->object, key)))
        return false;
    p->n_read++;
    return true;
}

void packet_u64(struct packet *p, const char *key, uint64_t max,
                uint64_t *ret_v, const char *why)
{
    const json_t *v = value(p, key, JSON_INTEGER, why);

    *ret_v = 0;
    if (v == NULL)
        return;
    if (json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > max)
        packet_fail(p, why);
    else
        *ret_v = (uint64_t)json_integer_value(v);
}

void packet_bool(struct packet *p, const char *key, bool *ret_v,
                 const char *why)
{
    const json_t *v = json_object_get(p->object, key);

    *ret_v = false;
    if (p->failed)
        return;
    if (!json_is_boolean(v)) {
        packet_fail(p, why);
        return;
    }
    p->n_read++;
    *ret_v = json_is_true(v);
}

bool packet_value_text(struct packet *p, const json_t *v, struct span *ret_s)
{
    size_t n = json_string_length(v);
    uint8_t *q;

    ret_s->p = NULL;
    ret_s->n = 0;
    if (!json_is_string(v))
        return false;
    q = alloc(p, n);
    if (q == NULL)
        return false;
    memcpy(q, json_string_value(v), n);
    *ret_s = span_of(q, n);
    return true;
}

void packet_text(struct packet *p, const char *key, struct span *ret_s,
                 const char *why)
{
    const json_t *v = value(p, key, JSON_STRING, why);

    ret_s->p = NULL;
    ret_s->n = 0;
    if (v != NULL)
        (void)packet_value_text(p, v, ret_s); /* a string: it may only lack
                                                 memory, which is kept */
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_decode(const char *s, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(s[2 * i]), low = hex_digit(s[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool packet_value_hex(struct packet *p, const json_t *v, struct span *ret_s)
{
    size_t n = json_string_length(v) / 2;
    uint8_t *q;

    ret_s->p = NULL;
    ret_s->n = 0;
    if (!json_is_string(v) || json_string_length(v) % 2 != 0)
        return false;
    q = alloc(p, n);
    if (q == NULL || !hex_decode(json_string_value(v), q, n))
        return false;
    *ret_s = span_of(q, n);
    return true;
}

void packet_hex(struct packet *p, const char *key, struct span out,
                const char *why)
{
    const json_t *v = value(p, key, JSON_STRING, why);

    if (v == NULL)
        return;
    if (json_string_length(v) != 2 * out.n ||
        !hex_decode(json_string_value(v), (uint8_t *)out.p, out.n))
        packet_fail(p, why);
}

void packet_hex_span(struct packet *p, const char *key, struct span *ret_s,
                     const char *why)
{
    const json_t *v = value(p, key, JSON_STRING, why);

    ret_s->p = NULL;
    ret_s->n = 0;
    if (v != NULL && !packet_value_hex(p, v, ret_s))
        packet_fail(p, why);
}

bool packet_value_base64(struct packet *p, const json_t *v, struct span *ret_s)
{
    struct span text = span_of(json_string_value(v), json_string_length(v));
    size_t size = text.n / 4 * 3, n;
    uint8_t *q;

    ret_s->p = NULL;
    ret_s->n = 0;
    if (!json_is_string(v))
        return false;
    q = alloc(p, size);
    if (q == NULL || base64_decode(text, q, size, &n) != PARSE_OK)
        return false;
    *ret_s = span_of(q, n);
    return true;
}

void packet_base64(struct packet *p, const char *key, struct span *ret_s,
                   const char *why)
{
    const json_t *v = value(p, key, JSON_STRING, why);

    ret_s->p = NULL;
    ret_s->n = 0;
    if (v != NULL && !packet_value_base64(p, v, ret_s))
        packet_fail(p, why);
}

void packet_base64_or_null(struct packet *p, const char *key,
                           struct span *ret_s, const char *why)
{
    ret_s->p = NULL;
    ret_s->n = 0;
    if (!is_null(p, key))
        packet_base64(p, key, ret_s, why);
}

void packet_text_or_null(struct packet *p, const char *key, struct span *ret_s,
                         const char *why)
{
    ret_s->p = NULL;
    ret_s->n = 0;
    if (!is_null(p, key))
        packet_text(p, key, ret_s, why);
}

const json_t *packet_array(struct packet *p, const char *key, const char *why)
{
    return value(p, key, JSON_ARRAY, why);
}

json_t *packet_new_text(struct span s)
{
    static const char unknown[] = "\xef\xbf\xbd";
    char *out = malloc(3 * s.n + 1);
    size_t n = 0, step;
    json_t *v;

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < s.n; i += step) {
        struct span rest = span_of(s.p + i, s.n - i);

        if (utf8_step(rest, &step) == PARSE_OK && *rest.p != '\0') {
            memcpy(out + n, rest.p, step);
            n += step;
        } else {
            memcpy(out + n, unknown, 3);
            n += 3;
        }
    }
    v = json_stringn_nocheck(out, n);
    free(out);
    return v;
}

json_t *packet_new_hex(struct span s)
{
    static const char digits[] = "0123456789abcdef";
    char *out = malloc(2 * s.n + 1);
    json_t *v;

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < s.n; i++) {
        out[2 * i] = digits[s.p[i] >> 4];
        out[2 * i + 1] = digits[s.p[i] & 15];
    }
    v = json_stringn_nocheck(out, 2 * s.n);
    free(out);
    return v;
}

json_t *packet_new_base64(struct span s)
{
    size_t n = base64_len(s.n);
    char *out = malloc(n + 1);
    json_t *v;

    if (out == NULL)
        return NULL;
    base64_encode(s, out);
    v = json_stringn_nocheck(out, n);
    free(out);
    return v;
}

json_t *packet_new_u64(uint64_t v)
{
    return v > INT64_MAX ? NULL : json_integer((json_int_t)v);
}

void packet_set(json_t *object, const char *key, json_t *v, bool *failed)
{
    if (json_object_set_new_nocheck(object, key, v) != 0)
        *failed = true;
}

void packet_add(json_t *array, json_t *v, bool *failed)
{
    if (json_array_append_new(array, v) != 0)
        *failed = true;
}

static int append(const char *bytes, size_t n, void *data)
{
    FILE *f = data;

    return fwrite(bytes, 1, n, f) == n ? 0 : -1;
}

int packet_dump(json_t *root, bool failed, char **ret_bytes, size_t *ret_n)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *f = failed || root == NULL ? NULL : open_memstream(&bytes, &n);
    bool good = f != NULL &&
                json_dump_callback(root, append, f, JSON_COMPACT) == 0 &&
                fputc('\n', f) != EOF;

    json_decref(root);
    if (f != NULL && fclose(f) != 0)
        good = false;
    if (!good) {
        free(bytes);
        return -ENOMEM;
    }
    *ret_bytes = bytes;
    *ret_n = n;
    return 0;
}
