/*
 * halve.c - a GGUF file with its float matrices as halves.
 *
 * Head and values are copied as they stand, then the table of tensors and the
 * data are written anew.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "halve.h"

#include <stdlib.h>
#include <string.h>

#include "numerics/ggml/scalar.h"

enum { HEAD = 24, ALIGN = 32 };

struct writing {
    uint8_t *p;
    size_t n;
};

static void put(struct writing *w, const void *bytes, size_t n)
{
    memcpy(w->p + w->n, bytes, n);
    w->n += n;
}

static void put_number(struct writing *w, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w->p[w->n++] = (uint8_t)(v >> 8 * i);
}

static void pad(struct writing *w)
{
    while (w->n % ALIGN != 0)
        w->p[w->n++] = 0;
}

static bool is_halved(const struct gguf_tensor *t)
{
    return t->type == GGML_F32 && t->n_dims > 1;
}

static void put_entry(struct writing *w, const struct gguf_tensor *t,
                      uint64_t offset)
{
    put_number(w, t->name.n, 8);
    put(w, t->name.p, t->name.n);
    put_number(w, t->n_dims, 4);
    for (uint32_t d = 0; d < t->n_dims; d++)
        put_number(w, t->dims[d], 8);
    put_number(w, is_halved(t) ? GGML_F16 : t->type, 4);
    put_number(w, offset, 8);
}

static void put_data(struct writing *w, const struct gguf_tensor *t)
{
    if (!is_halved(t)) {
        put(w, t->data.p, t->data.n);
        return;
    }
    for (size_t i = 0; i < t->data.n; i += 4) {
        float f;

        memcpy(&f, t->data.p + i, sizeof f);
        put_number(w, f16_of(f), 2);
    }
}

static size_t halved_bytes(const struct gguf_tensor *t)
{
    size_t n = is_halved(t) ? t->data.n / 2 : t->data.n;

    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

struct span halve(const struct gguf *g)
{
    const struct gguf_value *first = gguf_value_at(g, 0);
    const struct gguf_value *last = gguf_value_at(g, gguf_values(g) - 1);
    const uint8_t *file = first->key.p - 8 - HEAD;
    size_t values = (size_t)(last->bytes.p + last->bytes.n - file);
    size_t room = values + ALIGN, n = gguf_tensors(g);
    struct writing w = {NULL, 0};
    uint64_t offset = 0;

    for (size_t i = 0; i < n; i++)
        room += gguf_tensor_at(g, i)->name.n + 64 +
                halved_bytes(gguf_tensor_at(g, i));
    w.p = aligned_alloc(64, (room + 63) / 64 * 64);
    if (w.p == NULL)
        abort();
    put(&w, file, values);
    for (size_t i = 0; i < n; i++) {
        put_entry(&w, gguf_tensor_at(g, i), offset);
        offset += halved_bytes(gguf_tensor_at(g, i));
    }
    pad(&w);
    for (size_t i = 0; i < n; i++) {
        put_data(&w, gguf_tensor_at(g, i));
        pad(&w);
    }
    return span_of(w.p, w.n);
}
