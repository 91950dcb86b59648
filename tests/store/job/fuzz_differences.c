/*
 * fuzz_differences.c - any bytes as the payload of a verdict: refused with a
 * reason, or read, and then written and read again as the same.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "store/differences.h"

static char *written(const struct differences *d, size_t *ret_n)
{
    char *bytes;

    if (differences_write(d, &bytes, ret_n) != 0)
        abort();
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct differences d, again;
    const char *why = NULL;
    char *first, *second;
    size_t n, m;

    if (differences_read(span_of(data, size), &d, &why) != 0) {
        if (why == NULL)
            abort();
        return 0;
    }
    first = written(&d, &n);
    differences_free(&d);
    if (differences_read(span_of(first, n), &again, &why) != 0)
        abort();
    second = written(&again, &m);
    differences_free(&again);
    if (n != m || memcmp(first, second, n) != 0)
        abort();
    free(first);
    free(second);
    return 0;
}
