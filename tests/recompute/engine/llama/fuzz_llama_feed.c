/*
 * fuzz_llama_feed.c - lines as messages of a batch feed: a plan, or refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "engine/llama/schedule/feed.h"

enum { LINES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct feed *f)
{
    for (size_t i = 0; i < f->n_requests; i++)
        for (size_t k = 0; k < f->requests[i].n_rows; k++)
            if (f->requests[i].rows[k] >= f->n_rows)
                abort();
    for (size_t i = 0; i < f->n_rows; i++)
        if (f->row_ops[i] >= f->plan.n ||
            f->plan.ops[f->row_ops[i]].kind != PLAN_TOKEN)
            abort();
    for (size_t i = 0; i < f->plan.n; i++)
        if (f->plan.ops[i].kind != PLAN_DECODE &&
            f->plan.ops[i].kind != PLAN_HOLE &&
            f->plan.ops[i].slot >= f->plan.slots)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span lines[LINES];
    struct feed f;
    size_t n = 0;

    while (n < LINES && size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - data);

        lines[n++] = span_of(data, length);
        length += end != NULL;
        data += length;
        size -= length;
    }
    if (feed_read(lines, n, &f) == 0) {
        check(&f);
        feed_fini(&f);
    }
    return 0;
}
