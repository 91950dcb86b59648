/*
 * fuzz_safetensors.c - any bytes as a safetensors file: what is accepted lies
 * whole within the file, in tensors that do not touch.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>

#include "weights/safetensors.h"

static volatile unsigned sink; /* the bytes are read, nothing else */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensors t = {0};
    const char *why;
    char *name;
    size_t bytes = 0;
    unsigned sum = 0;

    if (safetensors_read(span_of(data, size), &t, &why, &name) == PARSE_BAD) {
        if (t.n != 0 || why == NULL)
            abort();
        free(name);
    }
    for (size_t i = 0; i < t.n; i++) {
        for (size_t j = 0; j < t.tensor[i].data.n; j++)
            sum += t.tensor[i].data.p[j];
        bytes += t.tensor[i].data.n;
        if (tensors_find(&t, t.tensor[i].name) == NULL)
            abort();
    }
    if (bytes > size)
        abort();
    sink = sum;
    tensors_close(&t);
    return 0;
}
