/*
 * safetensors.c - one safetensors file: its header checked to the last number
 * (drawn in safetensors.h). Comes in: the file's bytes. Goes out: tensors that
 * point into them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "weights/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS_MAX = 1 << 20 };

/* The format's names and sizes; what the forward pass reads comes first. */
static const struct dtype_row {
    const char *name;
    enum dtype dtype;
    size_t bytes;
} dtypes[] = {
    {"F32", DTYPE_F32, 4},           {"F16", DTYPE_F16, 2},
    {"BF16", DTYPE_BF16, 2},         {"F64", DTYPE_OTHER, 8},
    {"I64", DTYPE_OTHER, 8},         {"U64", DTYPE_OTHER, 8},
    {"C64", DTYPE_OTHER, 8},         {"I32", DTYPE_OTHER, 4},
    {"U32", DTYPE_OTHER, 4},         {"I16", DTYPE_OTHER, 2},
    {"U16", DTYPE_OTHER, 2},         {"I8", DTYPE_OTHER, 1},
    {"U8", DTYPE_OTHER, 1},          {"BOOL", DTYPE_OTHER, 1},
    {"F8_E4M3", DTYPE_OTHER, 1},     {"F8_E5M2", DTYPE_OTHER, 1},
    {"F8_E8M0", DTYPE_OTHER, 1},     {"F8_E4M3FNUZ", DTYPE_OTHER, 1},
    {"F8_E5M2FNUZ", DTYPE_OTHER, 1},
};

static const struct dtype_row *dtype_find(const char *name)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (name != NULL && strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}

/* A whole number from 0 on. */
static bool whole(const json_t *j, uint64_t *ret_v)
{
    if (!json_is_integer(j) || json_integer_value(j) < 0)
        return false;
    *ret_v = (uint64_t)json_integer_value(j);
    return true;
}

static const char *read_shape(const json_t *shape, struct tensor *t,
                              uint64_t *ret_elements)
{
    uint64_t n = 1;

    if (!json_is_array(shape))
        return "no shape";
    t->dims = json_array_size(shape);
    if (t->dims > TENSOR_DIMS_MAX)
        return "too many dimensions";
    for (size_t i = 0; i < t->dims; i++)
        if (!whole(json_array_get(shape, i), &t->shape[i]) ||
            __builtin_mul_overflow(n, t->shape[i], &n))
            return "bad shape";
    *ret_elements = n;
    return NULL;
}

/* Fills t but its name; data holds all tensors' bytes. */
static const char *read_tensor(const json_t *j, struct span data,
                               struct tensor *t)
{
    const json_t *offsets = json_object_get(j, "data_offsets");
    const struct dtype_row *row;
    uint64_t elements, bytes, begin, end;
    const char *why;

    if (!json_is_object(j) || json_object_size(j) != 3)
        return "not exactly dtype, shape and data_offsets";
    row = dtype_find(json_string_value(json_object_get(j, "dtype")));
    if (row == NULL)
        return "unknown dtype";
    why = read_shape(json_object_get(j, "shape"), t, &elements);
    if (why != NULL)
        return why;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !whole(json_array_get(offsets, 0), &begin) ||
        !whole(json_array_get(offsets, 1), &end))
        return "bad data_offsets";
    if (begin > end || end > data.n)
        return "data_offsets outside the file";
    if (__builtin_mul_overflow(elements, row->bytes, &bytes) ||
        bytes != end - begin)
        return "data_offsets do not fit dtype and shape";
    t->dtype = row->dtype;
    t->data = span_of(data.p + begin, end - begin);
    return NULL;
}

/* By place; an empty one before what begins where it stands. */
static int by_place(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;

    if (x->data.p != y->data.p)
        return x->data.p < y->data.p ? -1 : 1;
    return (x->data.n > y->data.n) - (x->data.n < y->data.n);
}

static int by_name(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* The tensors, sorted by place, must tile the data. */
static const char *check_tiling(struct tensor *t, size_t n, struct span data)
{
    const uint8_t *at = data.p;

    qsort(t, n, sizeof *t, by_place);
    for (size_t i = 0; i < n; i++) {
        if (t[i].data.p != at)
            return t[i].data.p < at ? "tensors overlap" : "bytes of no tensor";
        at += t[i].data.n;
    }
    return at == data.p + data.n ? NULL : "bytes of no tensor at the end";
}

static const char *check_metadata(const json_t *j)
{
    const char *key;
    json_t *value;

    if (!json_is_object(j))
        return "__metadata__ is not an object";
    json_object_foreach((json_t *)j, key, value)
        if (!json_is_string(value))
            return "__metadata__ holds something that is not a text";
    return NULL;
}

static void free_names(struct tensor *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(t[i].name);
}

/* Reads the header's members into t, which has room for them all. */
static const char *read_members(json_t *header, struct span data,
                                struct tensor *t, size_t *ret_n,
                                char **ret_name)
{
    const char *key, *why = NULL;
    json_t *value;
    size_t n = 0;

    json_object_foreach(header, key, value) {
        if (strcmp(key, "__metadata__") == 0) {
            why = check_metadata(value);
        } else {
            why = read_tensor(value, data, &t[n]);
            t[n].name = strdup(key);
            if (t[n++].name == NULL && why == NULL)
                why = "no memory";
        }
        if (why != NULL) {
            *ret_name = strdup(key);
            break;
        }
    }
    *ret_n = n;
    return why;
}

static const char *read_header(json_t *header, struct span data,
                               struct tensors *t, char **ret_name)
{
    size_t room = json_object_size(header), n = 0;
    struct tensor *grown, *added;
    const char *why;

    if (room > TENSORS_MAX || t->n > TENSORS_MAX)
        return "too many tensors";
    grown = reallocarray(t->tensor, t->n + room + 1, sizeof *grown);
    if (grown == NULL)
        return "no memory";
    t->tensor = grown;
    added = grown + t->n;
    why = read_members(header, data, added, &n, ret_name);
    if (why == NULL)
        why = check_tiling(added, n, data);
    if (why != NULL) {
        free_names(added, n);
        return why;
    }
    t->n += n;
    qsort(t->tensor, t->n, sizeof *grown, by_name);
    return NULL;
}

enum parse safetensors_read(struct span file, struct tensors *t,
                            const char **ret_why, char **ret_name)
{
    uint64_t n = 0;
    json_t *header;
    struct span data;

    *ret_name = NULL;
    *ret_why = "shorter than its header";
    if (file.n < 8)
        return PARSE_BAD;
    for (size_t i = 8; i > 0; i--)
        n = n << 8 | file.p[i - 1];
    if (n > file.n - 8 || n > SAFETENSORS_HEADER_MAX)
        return PARSE_BAD;
    *ret_why = "the header is not a JSON object without doubles";
    /* The format says so, to keep polyglot files out. */
    if (n == 0 || file.p[8] != '{')
        return PARSE_BAD;
    header =
        json_loadb((const char *)file.p + 8, n, JSON_REJECT_DUPLICATES, NULL);
    if (header == NULL)
        return PARSE_BAD;
    data = span_of(file.p + 8 + n, file.n - 8 - n);
    *ret_why = json_is_object(header) ? read_header(header, data, t, ret_name)
                                      : *ret_why;
    json_decref(header);
    return *ret_why == NULL ? PARSE_OK : PARSE_BAD;
}

const struct tensor *tensors_find(const struct tensors *t, const char *name)
{
    struct tensor key = {.name = (char *)name};

    if (t->n == 0)
        return NULL;
    return bsearch(&key, t->tensor, t->n, sizeof(key), by_name);
}
