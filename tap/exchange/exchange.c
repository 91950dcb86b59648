/*
 * exchange.c - the pool of slots, and what one of them says.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exchange/exchange.h"

#include <errno.h>
#include <string.h>

#include "base/pool_memory.h"

int slot_pool_init(struct slot_pool *p, size_t n)
{
    memset(p, 0, sizeof *p);
    p->all = pool_map(n, sizeof *p->all);
    if (p->all == NULL)
        return -ENOMEM;
    p->n = n;
    return 0;
}

void slot_pool_fini(struct slot_pool *p)
{
    pool_unmap(p->all, p->n, sizeof *p->all);
    memset(p, 0, sizeof *p);
}

struct slot *slot_take(struct slot_pool *p)
{
    struct slot *s = p->free;

    if (s != NULL) {
        p->free = s->next;
        s->next = NULL;
    } else if (p->used < p->n) {
        s = &p->all[p->used++];
    } else {
        p->refused++;
    }
    return s;
}

void slot_give(struct slot_pool *p, struct slot *s)
{
    memset(s, 0, sizeof *s);
    s->next = p->free;
    p->free = s;
}

bool slot_complete(const struct slot *s, const char **ret_cause)
{
    const char *cause = s->req.cause != NULL    ? s->req.cause
                        : s->resp.cause != NULL ? s->resp.cause
                                                : s->cause;

    if (cause == NULL && s->req.whole && s->resp.whole)
        return true;
    *ret_cause = cause == NULL ? "cut" : cause;
    return false;
}

static struct span request_part(const struct slot *s, struct range r)
{
    return s->req.line_ok ? range_of(buffer_span(&s->req.raw), r)
                          : span_of(NULL, 0);
}

struct span slot_method(const struct slot *s)
{
    return request_part(s, s->req.head.method);
}

struct span slot_target(const struct slot *s)
{
    return request_part(s, s->req.head.target);
}
