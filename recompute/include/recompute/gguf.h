/*
 * gguf.h - a GGUF file, version 3, little-endian, mapped and checked.
 *
 * Layout (ggml's docs/gguf.md):
 *   u32 magic "GGUF", u32 version, u64 n_tensors, u64 n_values
 *   n_values x { string key, u32 type, value }
 *   n_tensors x { string name, u32 n_dims, u64 dims[n_dims] (the innermost
 *                 first), u32 type, u64 offset }
 *   padding to general.alignment, then the tensors' bytes; offsets count from
 *   here
 * A string is u64 length and bytes; an array is u32 type, u64 n and n values.
 *
 * Every count, offset and size is checked against the file at open, overlaps
 * of tensors too, so that nothing read later can lie outside.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_GGUF_H
#define RECOMPUTE_GGUF_H

#include "recompute/ggml_type.h"
#include "store/span.h"

struct gguf;
struct error;

enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64
};

struct gguf_value {
    struct span key;
    enum gguf_type type;
    enum gguf_type item; /* of an array */
    uint64_t n;          /* of an array */
    struct span bytes;   /* the value, or an array's values, as in the file */
};

struct gguf_tensor {
    struct span name;
    uint32_t n_dims;
    uint64_t dims[4]; /* the innermost first; 1 beyond n_dims */
    enum ggml_type type;
    struct span data;
};

/* -EINVAL: refused, ret_error names what; else the errno of opening; -ENOMEM.
 * The caller closes *ret_g; everything got from it lives until then. */
int gguf_open(const char *path, struct gguf **ret_g, struct error *ret_error);
/* The same over bytes in memory, borrowed until gguf_close. */
int gguf_parse(struct span file, struct gguf **ret_g, struct error *ret_error);
void gguf_close(struct gguf *g);

size_t gguf_values(const struct gguf *g);
const struct gguf_value *gguf_value_at(const struct gguf *g, size_t i);
/* NULL: there is none. */
const struct gguf_value *gguf_value(const struct gguf *g, const char *key);
/* Any integer type; false if absent, negative, or another type. */
bool gguf_u64(const struct gguf *g, const char *key, uint64_t *ret_v);
bool gguf_f32(const struct gguf *g, const char *key, float *ret_v);
bool gguf_bool(const struct gguf *g, const char *key, bool *ret_v);
bool gguf_str(const struct gguf *g, const char *key, struct span *ret_v);

size_t gguf_tensors(const struct gguf *g);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i);
const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name);

/* Walks an array of strings: cursor_of(value->bytes), then n times this. */
struct span gguf_next_string(struct cursor *c);
/* Item i of an array of numbers, as its type says. i < n. */
int64_t gguf_item_int(const struct gguf_value *v, uint64_t i);
float gguf_item_f32(const struct gguf_value *v, uint64_t i);

#endif
