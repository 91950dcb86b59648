/*
 * fuzz_gguf.c - any bytes as a GGUF file: what is accepted lies whole within
 * the file, in tensors that do not touch, and every value can be walked.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>

#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"

static volatile uint64_t sink; /* the bytes are read, nothing else */

static uint64_t read_value(const struct gguf_value *v)
{
    struct cursor c = cursor_of(v->bytes);
    uint64_t sum = 0;

    if (v->type == GGUF_ARRAY && v->item == GGUF_STRING) {
        for (uint64_t i = 0; i < v->n; i++)
            sum += gguf_next_string(&c).n;
        if (c.bad || cursor_left(&c) != 0)
            abort();
    } else if (v->type == GGUF_ARRAY && v->item == GGUF_F32) {
        for (uint64_t i = 0; i < v->n; i++)
            sum += gguf_item_f32(v, i) > 0;
    } else if (v->type == GGUF_ARRAY) {
        for (uint64_t i = 0; i < v->n; i++)
            sum += (uint64_t)gguf_item_int(v, i);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf *g = NULL;
    struct error error = {""};
    uint64_t sum = 0;
    size_t bytes = 0;

    if (gguf_parse(span_of(data, size), &g, &error) != 0) {
        if (g != NULL || error.text[0] == '\0')
            abort();
        return 0;
    }
    for (size_t i = 0; i < gguf_values(g); i++)
        sum += read_value(gguf_value_at(g, i));
    for (size_t i = 0; i < gguf_tensors(g); i++) {
        const struct span d = gguf_tensor_at(g, i)->data;

        for (size_t j = 0; j < d.n; j++)
            sum += d.p[j];
        bytes += d.n;
    }
    if (bytes > size)
        abort();
    sink = sum;
    gguf_close(g);
    return 0;
}
