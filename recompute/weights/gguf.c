/*
 * gguf.c - a GGUF file read into tables of values and tensors.
 * Comes in: a file that anybody may have made. Goes out: spans within it, all
 * checked, or one sentence saying what is wrong.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/gguf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recompute/error.h"

enum {
    VERSION = 3,
    ENTRIES_MAX = 1 << 20, /* of each table */
    ALIGNMENT_DEFAULT = 32
};

struct gguf {
    struct span file;
    void *map; /* NULL: file is borrowed */
    struct gguf_value *values;
    size_t n_values;
    struct gguf_tensor *tensors;
    size_t n_tensors;
};

static const uint32_t value_bytes[] = {
    [GGUF_U8] = 1,     [GGUF_I8] = 1,    [GGUF_U16] = 2, [GGUF_I16] = 2,
    [GGUF_U32] = 4,    [GGUF_I32] = 4,   [GGUF_F32] = 4, [GGUF_BOOL] = 1,
    [GGUF_STRING] = 0, [GGUF_ARRAY] = 0, [GGUF_U64] = 8, [GGUF_I64] = 8,
    [GGUF_F64] = 8,
};

/* Little-endian, as the file is; cursor.h's own readers are big-endian. */
static uint64_t le(struct span s)
{
    uint64_t v = 0;

    for (size_t i = s.n; i > 0; i--)
        v = v << 8 | s.p[i - 1];
    return v;
}

static uint32_t take_u32(struct cursor *c)
{
    return (uint32_t)le(cursor_take(c, 4));
}

static uint64_t take_u64(struct cursor *c)
{
    return le(cursor_take(c, 8));
}

struct span gguf_next_string(struct cursor *c)
{
    uint64_t n = take_u64(c);

    if (n > cursor_left(c)) {
        c->bad = true;
        n = 0;
    }
    return cursor_take(c, (size_t)n);
}

static bool known_type(uint32_t type)
{
    return type <= GGUF_F64;
}

/* The value's bytes; arrays of arrays are not part of any model's file. */
static bool take_value(struct cursor *c, struct gguf_value *v)
{
    const uint8_t *from;

    if (v->type == GGUF_STRING) {
        v->bytes = gguf_next_string(c);
        return !c->bad;
    }
    if (v->type != GGUF_ARRAY) {
        v->bytes = cursor_take(c, value_bytes[v->type]);
        return !c->bad;
    }
    v->item = take_u32(c);
    v->n = take_u64(c);
    if (c->bad || !known_type(v->item) || v->item == GGUF_ARRAY)
        return false;
    from = c->p;
    if (v->item == GGUF_STRING)
        for (uint64_t i = 0; i < v->n && !c->bad; i++)
            (void)gguf_next_string(c); /* only its end matters here */
    else if (v->n > cursor_left(c) / value_bytes[v->item])
        return false;
    else
        (void)cursor_take(c, (size_t)(v->n * value_bytes[v->item]));
    v->bytes = span_of(from, (size_t)(c->p - from));
    return !c->bad;
}

static int read_values(struct gguf *g, struct cursor *c, struct error *error)
{
    for (size_t i = 0; i < g->n_values; i++) {
        struct gguf_value *v = &g->values[i];
        uint32_t type;

        v->key = gguf_next_string(c);
        type = take_u32(c);
        if (c->bad || !known_type(type))
            return error_refuse(error, "value %zu: bad type or cut off", i);
        v->type = type;
        if (!take_value(c, v))
            return error_refuse(error, "value %zu (%.*s): cut off or malformed",
                                i, (int)(v->key.n > 60 ? 60 : v->key.n),
                                (const char *)v->key.p);
    }
    return 0;
}

/* Bytes of the tensor, or false when a product or a row does not fit. */
static bool tensor_bytes(const struct gguf_tensor *t, uint64_t *ret_bytes)
{
    uint32_t elements, bytes;
    uint64_t n;

    if (!ggml_type_block(t->type, &elements, &bytes) ||
        t->dims[0] % elements != 0)
        return false;
    n = t->dims[0] / elements;
    for (int i = 1; i < 4; i++)
        if (__builtin_mul_overflow(n, t->dims[i], &n))
            return false;
    return !__builtin_mul_overflow(n, (uint64_t)bytes, ret_bytes);
}

/* data holds the offset in n until the start of the data is known. */
static int read_tensors(struct gguf *g, struct cursor *c, struct error *error)
{
    for (size_t i = 0; i < g->n_tensors; i++) {
        struct gguf_tensor *t = &g->tensors[i];

        t->name = gguf_next_string(c);
        t->n_dims = take_u32(c);
        if (c->bad || t->n_dims < 1 || t->n_dims > 4)
            return error_refuse(error, "tensor %zu: bad dimensions or cut off",
                                i);
        for (uint32_t d = 0; d < 4; d++)
            t->dims[d] = d < t->n_dims ? take_u64(c) : 1;
        t->type = take_u32(c);
        t->data = span_of(NULL, (size_t)take_u64(c));
        if (c->bad)
            return error_refuse(error, "tensor %zu: cut off", i);
    }
    return 0;
}

/* A name for a message: its beginning, as text. */
struct name {
    char text[64];
};

static struct name name_of(const struct gguf_tensor *t)
{
    struct name name;

    (void)snprintf(name.text, sizeof name.text, "%.*s",
                   (int)(t->name.n > 60 ? 60 : t->name.n),
                   (const char *)t->name.p);
    return name;
}

static int by_data(const void *a, const void *b)
{
    const struct gguf_tensor *const *x = a, *const *y = b;

    return ((*x)->data.p > (*y)->data.p) - ((*x)->data.p < (*y)->data.p);
}

static int by_name(const void *a, const void *b)
{
    struct span x = (*(const struct gguf_tensor *const *)a)->name;
    struct span y = (*(const struct gguf_tensor *const *)b)->name;
    int rc = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

    return rc != 0 ? rc : (x.n > y.n) - (x.n < y.n);
}

/* Two tensors share neither bytes nor a name. */
static int check_apart(const struct gguf *g, struct error *error)
{
    const struct gguf_tensor **order = calloc(g->n_tensors + 1, sizeof *order);
    int rc = 0;

    if (order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < g->n_tensors; i++)
        order[i] = &g->tensors[i];
    qsort(order, g->n_tensors, sizeof *order, by_data);
    for (size_t i = 1; rc == 0 && i < g->n_tensors; i++)
        if (order[i - 1]->data.p + order[i - 1]->data.n > order[i]->data.p)
            rc = error_refuse(error, "tensors %s and %s overlap",
                              name_of(order[i - 1]).text,
                              name_of(order[i]).text);
    qsort(order, g->n_tensors, sizeof *order, by_name);
    for (size_t i = 1; rc == 0 && i < g->n_tensors; i++)
        if (span_eq(order[i - 1]->name, order[i]->name))
            rc = error_refuse(error, "tensor %s stands twice",
                              name_of(order[i]).text);
    free(order);
    return rc;
}

static int place_tensors(struct gguf *g, struct span data, uint64_t alignment,
                         struct error *error)
{
    for (size_t i = 0; i < g->n_tensors; i++) {
        struct gguf_tensor *t = &g->tensors[i];
        uint64_t offset = t->data.n, bytes;

        if (!tensor_bytes(t, &bytes))
            return error_refuse(error,
                                "tensor %s: type %u is not known or its rows "
                                "are not whole blocks",
                                name_of(t).text, (unsigned)t->type);
        if (offset % alignment != 0 || offset > data.n ||
            bytes > data.n - offset)
            return error_refuse(error,
                                "tensor %s: %llu bytes at %llu lie outside "
                                "the file or askew",
                                name_of(t).text, (unsigned long long)bytes,
                                (unsigned long long)offset);
        t->data = span_of(data.p + offset, (size_t)bytes);
    }
    return check_apart(g, error);
}

static int read_head(struct gguf *g, struct cursor *c, struct error *error)
{
    uint64_t n_tensors, n_values;

    if (!span_eq_str(cursor_take(c, 4), "GGUF"))
        return error_refuse(error, "not a GGUF file");
    if (take_u32(c) != VERSION)
        return error_refuse(error, "not version 3, little-endian");
    n_tensors = take_u64(c);
    n_values = take_u64(c);
    if (c->bad || n_tensors > ENTRIES_MAX || n_values > ENTRIES_MAX)
        return error_refuse(error, "more than %d tensors or values, or cut off",
                            ENTRIES_MAX);
    g->n_tensors = (size_t)n_tensors;
    g->n_values = (size_t)n_values;
    /* An entry takes at least 13 bytes: no table larger than the file. */
    if ((n_tensors + n_values) > cursor_left(c) / 13)
        return error_refuse(error, "cut off");
    g->tensors = calloc(g->n_tensors + 1, sizeof *g->tensors);
    g->values = calloc(g->n_values + 1, sizeof *g->values);
    return g->tensors == NULL || g->values == NULL ? -ENOMEM : 0;
}

static int read_file(struct gguf *g, struct error *error)
{
    struct cursor c = cursor_of(g->file);
    uint64_t alignment = ALIGNMENT_DEFAULT, at;
    int rc = read_head(g, &c, error);

    if (rc == 0)
        rc = read_values(g, &c, error);
    if (rc == 0)
        rc = read_tensors(g, &c, error);
    if (rc != 0)
        return rc;
    if (gguf_value(g, "general.alignment") != NULL &&
        (!gguf_u64(g, "general.alignment", &alignment) || alignment == 0 ||
         alignment > 65536 || alignment % 8 != 0))
        return error_refuse(error, "general.alignment is no multiple of 8");
    at = (uint64_t)(c.p - g->file.p);
    at = (at + alignment - 1) / alignment * alignment;
    if (at > g->file.n)
        at = g->file.n; /* no tensors, no padding */
    return place_tensors(g, span_of(g->file.p + at, g->file.n - at), alignment,
                         error);
}

int gguf_parse(struct span file, struct gguf **ret_g, struct error *ret_error)
{
    struct gguf *g = calloc(1, sizeof *g);
    int rc;

    if (g == NULL)
        return -ENOMEM;
    g->file = file;
    rc = read_file(g, ret_error);
    if (rc != 0)
        gguf_close(g);
    else
        *ret_g = g;
    return rc;
}

static int map_file(const char *path, struct span *ret_file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    struct stat st;
    void *map = MAP_FAILED;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0)
        rc = -errno;
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        rc = -EINVAL;
    if (rc == 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        rc = map == MAP_FAILED ? -errno : 0;
    }
    (void)close(fd); /* only read */
    if (rc == 0)
        *ret_file = span_of(map, (size_t)st.st_size);
    return rc;
}

int gguf_open(const char *path, struct gguf **ret_g, struct error *ret_error)
{
    struct span file = {NULL, 0};
    int rc = map_file(path, &file);

    if (rc != 0)
        return rc == -EINVAL
                   ? error_refuse(ret_error, "not a regular file, or empty")
                   : rc;
    rc = gguf_parse(file, ret_g, ret_error);
    if (rc != 0)
        (void)munmap((void *)(uintptr_t)file.p, file.n); /* was mapped */
    else
        (*ret_g)->map = (void *)(uintptr_t)file.p;
    return rc;
}

void gguf_close(struct gguf *g)
{
    if (g == NULL)
        return;
    if (g->map != NULL)
        (void)munmap(g->map, g->file.n); /* was mapped */
    free(g->values);
    free(g->tensors);
    free(g);
}

size_t gguf_values(const struct gguf *g)
{
    return g->n_values;
}

const struct gguf_value *gguf_value_at(const struct gguf *g, size_t i)
{
    return &g->values[i];
}

const struct gguf_value *gguf_value(const struct gguf *g, const char *key)
{
    for (size_t i = 0; i < gguf_values(g); i++)
        if (span_eq_str(gguf_value_at(g, i)->key, key))
            return gguf_value_at(g, i);
    return NULL;
}

/* A number of a signed type, its sign extended. */
static int64_t number(enum gguf_type type, struct span bytes)
{
    uint64_t v = le(bytes);

    switch (type) {
    case GGUF_I8:
        return (int8_t)v;
    case GGUF_I16:
        return (int16_t)v;
    case GGUF_I32:
        return (int32_t)v;
    default:
        return (int64_t)v;
    }
}

static bool is_integer(enum gguf_type type)
{
    return type <= GGUF_I32 || type == GGUF_U64 || type == GGUF_I64;
}

static float bits_f32(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

bool gguf_u64(const struct gguf *g, const char *key, uint64_t *ret_v)
{
    const struct gguf_value *v = gguf_value(g, key);
    int64_t n;

    if (v == NULL || !is_integer(v->type))
        return false;
    n = number(v->type, v->bytes);
    if (n < 0 && v->type != GGUF_U64)
        return false;
    *ret_v = (uint64_t)n;
    return true;
}

bool gguf_f32(const struct gguf *g, const char *key, float *ret_v)
{
    const struct gguf_value *v = gguf_value(g, key);

    if (v == NULL || v->type != GGUF_F32)
        return false;
    *ret_v = bits_f32((uint32_t)le(v->bytes));
    return true;
}

bool gguf_bool(const struct gguf *g, const char *key, bool *ret_v)
{
    const struct gguf_value *v = gguf_value(g, key);

    if (v == NULL || v->type != GGUF_BOOL)
        return false;
    *ret_v = v->bytes.p[0] != 0;
    return true;
}

bool gguf_str(const struct gguf *g, const char *key, struct span *ret_v)
{
    const struct gguf_value *v = gguf_value(g, key);

    if (v == NULL || v->type != GGUF_STRING)
        return false;
    *ret_v = v->bytes;
    return true;
}

size_t gguf_tensors(const struct gguf *g)
{
    return g->n_tensors;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i)
{
    return &g->tensors[i];
}

const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        if (span_eq_str(g->tensors[i].name, name))
            return &g->tensors[i];
    return NULL;
}

int64_t gguf_item_int(const struct gguf_value *v, uint64_t i)
{
    size_t n = value_bytes[v->item];

    return number(v->item, span_of(v->bytes.p + i * n, n));
}

float gguf_item_f32(const struct gguf_value *v, uint64_t i)
{
    return bits_f32((uint32_t)le(span_of(v->bytes.p + i * 4, 4)));
}
