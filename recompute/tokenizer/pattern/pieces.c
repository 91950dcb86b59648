/*
 * pieces.c - growing bytes, pieces and ids: pieces.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/pattern/pieces.h"

#include <stdlib.h>
#include <string.h>

/* Room for need elements of size in *p; *room grows by half. */
static bool grow(void **p, size_t *room, size_t need, size_t size)
{
    size_t n = *room < 16 ? 16 : *room, bytes;
    void *q;

    if (need <= *room)
        return true;
    while (n < need)
        if (__builtin_add_overflow(n, n / 2, &n))
            return false;
    if (__builtin_mul_overflow(n, size, &bytes))
        return false;
    q = realloc(*p, bytes);
    if (q == NULL)
        return false;
    *p = q;
    *room = n;
    return true;
}

void buffer_add(struct buffer *b, struct span s)
{
    size_t need;

    if (b->failed || s.n == 0)
        return;
    if (__builtin_add_overflow(b->n, s.n, &need) ||
        !grow((void **)&b->p, &b->room, need, 1)) {
        b->failed = true;
        return;
    }
    memcpy(b->p + b->n, s.p, s.n);
    b->n = need;
}

void buffer_fini(struct buffer *b)
{
    free(b->p);
}

void pieces_clear(struct pieces *p)
{
    p->n = 0;
    p->text.n = 0;
}

void pieces_fini(struct pieces *p)
{
    buffer_fini(&p->text);
    free(p->v);
}

bool pieces_failed(const struct pieces *p)
{
    return p->failed || p->text.failed;
}

static void add(struct pieces *p, struct piece piece)
{
    if (p->failed || !grow((void **)&p->v, &p->room, p->n + 1, sizeof *p->v)) {
        p->failed = true;
        return;
    }
    p->v[p->n++] = piece;
}

void pieces_add(struct pieces *p, struct span s, bool first)
{
    struct piece piece = {.at = p->text.n, .n = s.n, .first = first};

    if (s.n == 0)
        return;
    buffer_add(&p->text, s);
    if (!p->text.failed)
        add(p, piece);
}

void pieces_put(struct pieces *p, struct span s)
{
    struct piece piece = {.at = p->text.n, .n = s.n};

    buffer_add(&p->text, s);
    if (!p->text.failed)
        add(p, piece);
}

void pieces_add_token(struct pieces *p, uint32_t id)
{
    add(p, (struct piece){.id = id, .token = true});
}

struct span pieces_text(const struct pieces *p, size_t i)
{
    return p->text.n == 0 ? span_of("", 0)
                          : span_of(p->text.p + p->v[i].at, p->v[i].n);
}

void ids_add(struct ids *ids, uint32_t id)
{
    if (ids->failed ||
        !grow((void **)&ids->v, &ids->room, ids->n + 1, sizeof *ids->v)) {
        ids->failed = true;
        return;
    }
    ids->v[ids->n++] = id;
}
