/*
 * message.h - a message being collected: its bytes as captured, in memory that
 * was taken at the start, and where among them the pieces of its body lie.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_MESSAGE_H
#define TAP_MESSAGE_H

#include "base/buddy.h"
#include "base/chunk_list.h"
#include "http1/head.h"

/* What all messages share. */
struct message_pool {
    struct buddy memory;
    size_t message_max;              /* bytes kept of one message */
    uint64_t dropped, dropped_bytes; /* messages cut by the full memory */
};

/* A message being collected. All zero: none. What every piece of bytes
 * touches stands first. */
struct message {
    struct chunk_list rest; /* as sent: what follows the heads */
    struct buffer map;      /* body pieces, as store/exchange.h draws them */
    struct buffer raw;      /* the heads; of interim answers (1xx) first */
    uint64_t piece_at;      /* the last piece of map */
    int64_t piece_ns;
    uint32_t piece_n;
    bool begun;
    bool line_ok;       /* the last start line was seen and is one */
    bool head_ok;       /* the last head was seen whole */
    bool full;          /* no more room: later bytes are counted, not kept */
    uint64_t bytes;     /* payload bytes that belong to it, kept or not */
    uint64_t new_bytes; /* of these, since head_at: of an unjudged head */
    uint64_t to;        /* stream offset past the last byte */
    int64_t last_ns;
    const char *cause; /* first reason why it is not complete, or NULL */
    bool whole;        /* ended as its framing says */
    uint16_t interim;  /* interim answers that raw begins with */
    uint32_t head_at;  /* where the last head begins in raw */
    uint64_t from;     /* stream offset of the first byte */
    int64_t first_ns;
    uint64_t gap_bytes;
    struct head head;
};

/* Remembers the first cause. */
void message_fault(struct message *m, const char *cause);
/* Keeps bytes behind those that are there. Without room for all of them the
 * message is full, and they are counted. */
void message_append(struct message_pool *p, struct message *m,
                    struct span bytes);
/* n bytes at `at` of the raw bytes are a piece of the body. False: no room. */
bool message_piece(struct message_pool *p, struct message *m, uint64_t at,
                   size_t n, int64_t time_ns);
/* n more bytes have no room: the message is too large, or the memory full. */
void message_overflow(struct message_pool *p, struct message *m, size_t n);
/* Gives its memory back; all zero again. */
void message_release(struct message_pool *p, struct message *m);
/* Fetches the memory where the next bytes and the next piece go. */
void message_prefetch(const struct message *m);

/* How many of its bytes are kept. */
static inline size_t message_kept(const struct message *m)
{
    return m->raw.n + m->rest.n;
}
/* These bytes in one piece: where they lie, or in scratch, which has room for
 * all of them. */
struct span message_bytes(const struct message *m, uint8_t *scratch);

#endif
