/*
 * message.c - bytes of a message, and the map of its body.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http1/message.h"

#include <string.h>

#include "base/prefetch.h"
#include "store/exchange.h"

enum { PREFETCH_BYTES = 320 /* of a segment: a token's event */ };

void message_fault(struct message *m, const char *cause)
{
    if (m->cause == NULL)
        m->cause = cause;
}

void message_release(struct message_pool *p, struct message *m)
{
    chunk_list_release(&p->memory, &m->rest);
    buffer_release(&p->memory, &m->raw);
    buffer_release(&p->memory, &m->map);
    memset(m, 0, sizeof *m);
}

struct span message_bytes(const struct message *m, uint8_t *scratch)
{
    if (m->rest.n == 0)
        return buffer_span(&m->raw);
    if (m->raw.n > 0)
        memcpy(scratch, m->raw.p, m->raw.n);
    chunk_list_copy(&m->rest, scratch + m->raw.n);
    return span_of(scratch, message_kept(m));
}

static void put_be(uint8_t *p, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

/* A piece of the body at `at` of the raw bytes; one that continues the last
 * piece at the same time makes it longer. */
bool message_piece(struct message_pool *p, struct message *m, uint64_t at,
                   size_t n, int64_t time_ns)
{
    uint32_t joined;
    uint8_t *e;

    if (m->map.n > 0 && m->piece_ns == time_ns &&
        m->piece_at + m->piece_n == at &&
        !__builtin_add_overflow(m->piece_n, n, &joined)) {
        m->piece_n = joined;
        put_be(m->map.p + m->map.n - EXCHANGE_PIECE_BYTES + 8, joined, 4);
        return true;
    }
    e = buffer_reserve(&p->memory, &m->map, EXCHANGE_PIECE_BYTES);
    if (e == NULL || n > UINT32_MAX)
        return false;
    put_be(e, at, 8);
    put_be(e + 8, n, 4);
    put_be(e + 12, (uint64_t)time_ns, 8);
    m->map.n += EXCHANGE_PIECE_BYTES;
    m->piece_at = at;
    m->piece_n = (uint32_t)n;
    m->piece_ns = time_ns;
    return true;
}

/* Pieces beyond the bytes that were kept. */
static void map_trim(struct message *m)
{
    uint64_t offset;
    size_t kept = message_kept(m);
    uint32_t len;
    int64_t time_ns;

    while (m->map.n > 0) {
        size_t last = m->map.n / EXCHANGE_PIECE_BYTES - 1;

        if (!exchange_piece(buffer_span(&m->map), last, &offset, &len,
                            &time_ns) ||
            offset + len <= kept)
            return;
        if (offset < kept) {
            put_be(m->map.p + last * EXCHANGE_PIECE_BYTES + 8, kept - offset,
                   4);
            return;
        }
        m->map.n -= EXCHANGE_PIECE_BYTES;
    }
}

/* n more bytes have no room: the message is too large, or the memory full. */
void message_overflow(struct message_pool *p, struct message *m, size_t n)
{
    if (message_kept(m) + n <= p->message_max)
        p->dropped++;
    m->full = true;
    message_fault(m, "too_large");
    map_trim(m);
}

/* A head stays in one piece, since it is looked at. Returns how many bytes
 * had room. */
static size_t message_keep(struct message_pool *p, struct message *m,
                           struct span bytes)
{
    size_t room = p->message_max - message_kept(m);
    size_t n = bytes.n < room ? bytes.n : room;

    if (m->head_ok)
        return chunk_list_append(&p->memory, &m->rest, bytes.p, n);
    if (n < bytes.n || !buffer_append(&p->memory, &m->raw, bytes.p, n))
        return 0;
    return n;
}

void message_append(struct message_pool *p, struct message *m,
                    struct span bytes)
{
    size_t kept = m->full ? 0 : message_keep(p, m, bytes);

    if (kept < bytes.n && !m->full)
        message_overflow(p, m, bytes.n - kept);
    p->dropped_bytes += bytes.n - kept;
}

/* Where the next bytes and the next piece go, if there is room. */
void message_prefetch(const struct message *m)
{
    if (m->rest.room > 0)
        prefetch(m->rest.at, PREFETCH_BYTES);
    if (m->map.n < m->map.size)
        prefetch(m->map.p + m->map.n, EXCHANGE_PIECE_BYTES);
}
