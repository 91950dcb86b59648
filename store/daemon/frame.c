/*
 * frame.c - frames of the store's sockets, read and written. Comes in: bytes
 * of the other end, which may be taken over. Goes out: spans within them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/frame.h"

#include <stdlib.h>
#include <string.h>

#include "config/array.h"

enum { OP_AND_TAG = 9, UNIT_BYTES = 32 };

static bool op_known(uint8_t op)
{
    return (op >= FRAME_PUT && op <= FRAME_PUT_AGAIN) ||
           (op >= FRAME_ACK && op <= FRAME_BYTES);
}

enum parse frame_parse(struct span bytes, struct frame *ret_f, size_t *ret_used)
{
    struct cursor c = cursor_of(bytes);
    uint32_t n = cursor_be32(&c);
    uint8_t op = cursor_u8(&c);
    struct frame f = {.tag = cursor_be64(&c)};

    *ret_used = FRAME_HEAD;
    if (bytes.n >= 4 && (n < OP_AND_TAG || n > FRAME_MAX))
        return PARSE_BAD;
    if (bytes.n >= 5 && !op_known(op))
        return PARSE_BAD;
    if (c.bad)
        return PARSE_MORE;
    *ret_used = 4 + (size_t)n;
    f.op = op;
    f.body = cursor_take(&c, n - OP_AND_TAG);
    if (c.bad)
        return PARSE_MORE;
    *ret_f = f;
    return PARSE_OK;
}

static struct span take_text(struct cursor *c)
{
    size_t n = cursor_be16(c);

    if (n > FRAME_TEXT_MAX)
        c->bad = true;
    return cursor_take(c, n);
}

static enum parse parsed(const struct cursor *c)
{
    return c->bad || cursor_left(c) != 0 ? PARSE_BAD : PARSE_OK;
}

enum parse frame_parse_put(struct span body, struct frame_put *ret_p)
{
    struct cursor c = cursor_of(body);

    ret_p->kind = take_text(&c);
    ret_p->body = cursor_take(&c, cursor_be32(&c));
    ret_p->n_payloads = cursor_u8(&c);
    if (ret_p->n_payloads > FRAME_PAYLOADS)
        return PARSE_BAD;
    for (size_t i = 0; i < ret_p->n_payloads; i++) {
        ret_p->payload[i].name = take_text(&c);
        ret_p->payload[i].bytes = cursor_take(&c, cursor_be32(&c));
    }
    return parsed(&c);
}

enum parse frame_parse_reveal(struct span body, struct frame_reveal *ret_r)
{
    struct cursor c = cursor_of(body);

    ret_r->unit = cursor_take(&c, UNIT_BYTES);
    ret_r->payload = take_text(&c);
    ret_r->actor = take_text(&c);
    ret_r->reason = take_text(&c);
    return parsed(&c);
}

void frame_out_fini(struct frame_out *o)
{
    free(o->p);
    *o = (struct frame_out){0};
}

/* Room for n more bytes, or NULL. */
static uint8_t *grow(struct frame_out *o, size_t n)
{
    uint8_t *p = NULL;

    if (!o->failed && n <= FRAME_MAX)
        p = array_grow(o->p, &o->size, o->n, n, 1);
    if (p == NULL) {
        o->failed = true;
        return NULL;
    }
    o->p = p;
    p += o->n;
    o->n += n;
    return p;
}

void frame_add(struct frame_out *o, struct span bytes)
{
    uint8_t *p = grow(o, bytes.n);

    if (p != NULL && bytes.n != 0)
        memcpy(p, bytes.p, bytes.n);
}

void frame_add_be(struct frame_out *o, uint64_t v, size_t bytes)
{
    uint8_t *p = grow(o, bytes);

    for (size_t i = 0; p != NULL && i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

void frame_add_text(struct frame_out *o, struct span text)
{
    if (text.n > FRAME_TEXT_MAX)
        o->failed = true;
    frame_add_be(o, text.n, 2);
    frame_add(o, text);
}

size_t frame_begin(struct frame_out *o, enum frame_op op, uint64_t tag)
{
    size_t begun = o->n;

    frame_add_be(o, 0, 4);
    frame_add_be(o, op, 1);
    frame_add_be(o, tag, 8);
    return begun;
}

void frame_end(struct frame_out *o, size_t begun)
{
    size_t n = o->n - begun - 4;

    if (!o->failed && n > FRAME_MAX)
        o->failed = true;
    for (size_t i = 0; !o->failed && i < 4; i++)
        o->p[begun + i] = (uint8_t)(n >> 8 * (3 - i));
}
