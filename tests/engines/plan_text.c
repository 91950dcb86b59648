/*
 * plan_text.c - reads the lines of a plan: plan_text.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plan_text.h"

#include <string.h>

/* The next line, without its end. */
static struct span next_line(struct span text, size_t *at)
{
    const uint8_t *from = text.p + *at;
    const uint8_t *lf = memchr(from, '\n', text.n - *at);
    size_t n = lf != NULL ? (size_t)(lf - from) : text.n - *at;

    *at += n + (lf != NULL);
    if (n > 0 && from[n - 1] == '\r')
        n--;
    return span_of(from, n);
}

enum parse plan_text_read(struct span text, struct plan *ret_p,
                          size_t *ret_line)
{
    bool pending = false;
    size_t size = 0;

    *ret_line = 0;
    *ret_p = (struct plan){0};
    for (size_t at = 0; at < text.n;) {
        struct span line = next_line(text, &at);
        struct plan_op op;

        ++*ret_line;
        if (line.n == 0)
            continue;
        if (plan_op_read(line, &op) != PARSE_OK ||
            plan_add(ret_p, &size, op) != 0)
            return PARSE_BAD;
        pending = op.kind == PLAN_TOKEN || (pending && op.kind != PLAN_DECODE);
    }
    return pending ? PARSE_BAD : PARSE_OK;
}
