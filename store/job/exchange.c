/*
 * exchange.c - an exchange as the keys of a record, and the body of one side.
 * Comes in: struct exchange; raw bytes and the map of the body's pieces. Goes
 * out: a record; the decoded body.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/record.h"

static void record_time(struct record *r, const char *key, int64_t time_ns)
{
    record_u64(r, key, time_ns > 0 ? (uint64_t)time_ns : 0);
}

static void record_wire(const struct exchange *x, struct record *r)
{
    record_text(r, "tap", x->tap);
    record_text(r, "source", x->source);
    record_text(r, "client", x->client);
    record_text(r, "server", x->server);
    record_u64(r, "stream", x->stream);
    record_u64(r, "index", x->index);
    record_time(r, "req_first_ns", x->req.first_ns);
    record_time(r, "req_last_ns", x->req.last_ns);
    record_time(r, "resp_first_ns", x->resp.first_ns);
    record_time(r, "resp_last_ns", x->resp.last_ns);
}

static void record_meaning(const struct exchange *x, struct record *r)
{
    record_text(r, "method", x->method);
    record_text(r, "target", x->target);
    record_u64(r, "status", x->status);
    record_text(r, "api", x->api);
    record_text(r, "model", x->model);
    record_text(r, "api_id", x->api_id);
    record_u64(r, "streamed", x->streamed);
    record_u64(r, "events", x->events);
    record_u64(r, "choices", x->choices);
    record_u64(r, "tokens_in", x->tokens_in);
    record_u64(r, "tokens_out", x->tokens_out);
    record_text(r, "tokens_from", x->tokens_from);
    record_u64(r, "complete", x->complete);
    record_text(r, "cause", x->cause);
    record_u64(r, "gap_bytes", x->gap_bytes);
}

bool exchange_record(const struct exchange *x, struct record *r)
{
    record_init(r);
    record_wire(x, r);
    record_meaning(x, r);
    return !r->full;
}

bool exchange_piece(struct span map, size_t i, uint64_t *ret_offset,
                    uint32_t *ret_len, int64_t *ret_time_ns)
{
    struct cursor c;

    if (i >= map.n / EXCHANGE_PIECE_BYTES)
        return false;
    c = cursor_of(
        span_of(map.p + i * EXCHANGE_PIECE_BYTES, EXCHANGE_PIECE_BYTES));
    *ret_offset = cursor_be64(&c);
    *ret_len = cursor_be32(&c);
    *ret_time_ns = (int64_t)cursor_be64(&c);
    return true;
}

/* Sum of the pieces' lengths; false if they do not lie one behind the other
 * within raw. */
static bool pieces_len(const struct exchange_side *side, size_t *ret_n)
{
    size_t n = 0;
    uint64_t offset, end = 0;
    int64_t time_ns;
    uint32_t len;

    if (side->map.n % EXCHANGE_PIECE_BYTES != 0)
        return false;
    for (size_t i = 0; exchange_piece(side->map, i, &offset, &len, &time_ns);
         i++) {
        if (offset < end || offset > side->raw.n || len > side->raw.n - offset)
            return false;
        end = offset + len;
        n += len;
    }
    *ret_n = n;
    return true;
}

int exchange_body(const struct exchange_side *side, struct span *ret_body,
                  uint8_t **ret_owned)
{
    size_t n, at = 0;
    uint64_t offset;
    int64_t time_ns;
    uint32_t len;
    uint8_t *body;

    if (side->body.n != 0) {
        *ret_body = side->body;
        *ret_owned = NULL;
        return 0;
    }
    if (!pieces_len(side, &n))
        return -EINVAL;
    body = malloc(n != 0 ? n : 1);
    if (body == NULL)
        return -ENOMEM;
    for (size_t i = 0; exchange_piece(side->map, i, &offset, &len, &time_ns);
         i++) {
        if (len != 0)
            memcpy(body + at, side->raw.p + offset, len);
        at += len;
    }
    *ret_body = span_of(body, n);
    *ret_owned = body;
    return 0;
}
