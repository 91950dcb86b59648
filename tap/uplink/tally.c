/*
 * tally.c - notices added up by their cause.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uplink/tally.h"

#include <assert.h>
#include <string.h>

void tally_init(struct tally *t, unsigned alone, tally_fn put, void *ctx)
{
    memset(t, 0, sizeof *t);
    t->alone = alone;
    t->put = put;
    t->ctx = ctx;
}

static struct tally_cell *cell_of(struct tally *t, const struct notice *n)
{
    struct tally_cell *c;

    for (size_t i = 0; i < t->n; i++) {
        c = &t->cells[i];
        if (c->sum.kind == n->kind && strcmp(c->sum.cause, n->cause) == 0)
            return c;
    }
    assert(t->n < TALLY_CELLS); /* more than there are causes */
    c = &t->cells[t->n++];
    c->sum.kind = n->kind;
    c->sum.cause = n->cause;
    c->left = t->alone;
    return c;
}

/* Two notices that name different things together name none of them. */
static void add(struct notice *sum, const struct notice *n)
{
    if (sum->count == 0) {
        *sum = *n;
        return;
    }
    if (strcmp(sum->client, n->client) != 0)
        sum->client[0] = '\0';
    if (strcmp(sum->server, n->server) != 0)
        sum->server[0] = '\0';
    if (strcmp(sum->object, n->object) != 0)
        sum->object[0] = '\0';
    if (sum->stream != n->stream)
        sum->stream = 0;
    sum->count += n->count;
    sum->bytes += n->bytes;
    if (n->from_ns < sum->from_ns)
        sum->from_ns = n->from_ns;
    if (n->to_ns > sum->to_ns)
        sum->to_ns = n->to_ns;
}

void tally_add(struct tally *t, const struct notice *n)
{
    struct tally_cell *c = cell_of(t, n);

    if (c->left > 0 && t->put(t->ctx, n)) {
        c->left--;
        return;
    }
    add(&c->sum, n);
}

void tally_flush(struct tally *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct tally_cell *c = &t->cells[i];

        c->left = t->alone;
        if (c->sum.count > 0 && t->put(t->ctx, &c->sum))
            c->sum.count = 0;
    }
}
