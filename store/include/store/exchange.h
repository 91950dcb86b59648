/*
 * exchange.h - one request and its answer as the tap saw them: the data model
 * that tap writes, the store keeps and compare reads.
 *
 * Payloads of the record `exchange` (kind.h):
 *   req, resp    the raw bytes of the message as sent: start line, fields,
 *                body with its chunk framing, trailers
 *   *_map        the body's pieces within the raw bytes, in order, 20 bytes
 *                each, big-endian: u64 offset, u32 length, i64 time (ns since
 *                1970, when the piece's last byte was captured). The body
 *                after removal of the transfer coding is the pieces joined.
 *   *_body       only when a content coding (gzip, deflate) was undone: the
 *                decoded body
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_EXCHANGE_H
#define STORE_EXCHANGE_H

#include "store/span.h"

enum { EXCHANGE_PIECE_BYTES = 20 };

struct exchange_side {
    struct span raw;
    struct span map;  /* encoded pieces */
    struct span body; /* empty unless a content coding was undone */
    int64_t first_ns; /* capture time of the first and last byte; 0 unseen */
    int64_t last_ns;
};

/* All spans are borrowed. Text is raw, not percent-encoded. */
struct exchange {
    struct span tap, source;    /* name of the tap; "live:eth0", "file:..." */
    struct span client, server; /* "127.0.0.1:8080", "[::1]:8080" */
    uint64_t stream; /* connection, counted by the tap since its start */
    uint64_t index;  /* exchange on the connection, from 0 */
    struct span method, target;
    uint64_t status; /* 0: no answer seen */
    struct span api; /* dialect name, dialect.h; empty: not understood */
    struct span model, api_id;
    bool streamed;
    uint64_t events;  /* server-sent events, heartbeats apart */
    uint64_t choices; /* answers asked for; 0: not known */
    uint64_t tokens_in, tokens_out;
    struct span tokens_from; /* api_summary.tokens_from; empty: "-" */
    bool complete;
    struct span cause; /* why not complete, from the list in docs/records.md */
    uint64_t gap_bytes;
    struct exchange_side req, resp;
};

struct record;
/* Writes the keys of kind `exchange`; false if they do not fit. */
bool exchange_record(const struct exchange *x, struct record *r);

/* Piece i of a map; false past its end. */
bool exchange_piece(struct span map, size_t i, uint64_t *ret_offset,
                    uint32_t *ret_len, int64_t *ret_time_ns);
/*
 * The decoded body: side->body if there is one, else the pieces of raw joined
 * into a new buffer. The caller frees *ret_owned (may be NULL: the span is
 * borrowed from side). -EINVAL if the pieces do not lie in order within raw,
 * -ENOMEM.
 */
int exchange_body(const struct exchange_side *side, struct span *ret_body,
                  uint8_t **ret_owned);

#endif
