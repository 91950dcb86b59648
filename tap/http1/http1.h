/*
 * http1.h - HTTP/1 (RFC 9112): from the bytes of one direction to messages.
 *
 *     bytes, gaps of one direction
 *        |
 *      half ------> proxy: a load balancer's header before the first request
 *        |   |----> http1: where start line, head, body and chunks end
 *        |   `----> head: what start line and fields say
 *        |
 *      message: the bytes as captured, and the map of its body
 *        |
 *      coding: content codings undone, once a message is whole
 *
 * half sees proxy, http1, head and message; message and coding see head; head
 * sees this header. Requests and answers are paired elsewhere (exchange/).
 *
 * This file is the framing itself, fed with whatever pieces of the byte stream
 * arrive. Comes in: bytes, gaps. Goes out: how many of the bytes have one
 * meaning, and which; it keeps no bytes. The caller collects them, has the
 * start line and the head judged by head.h, and says what body follows:
 *
 *     START -> FIELDS -+-> BODY ----------------------------> START
 *                      +-> UNTIL_CLOSE
 *                      +-> CHUNK_SIZE, CHUNK_EXT --> TRAILERS -> START
 *                             ^          |  (the last one)
 *                          CHUNK_END <- CHUNK_DATA
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_HTTP1_H
#define TAP_HTTP1_H

#include "store/span.h"

enum {
    HTTP1_LINE_MAX = 32 * 1024, /* start line, chunk line */
    HTTP1_HEAD_MAX = 64 * 1024, /* start line and fields; trailers */
};

enum http1_state {
    HTTP1_START, /* between messages, or within a start line */
    HTTP1_FIELDS,
    HTTP1_BODY, /* `left` bytes to come */
    HTTP1_UNTIL_CLOSE,
    HTTP1_CHUNK_SIZE,
    HTTP1_CHUNK_EXT,  /* between the size and the end of its line */
    HTTP1_CHUNK_DATA, /* `left` bytes to come */
    HTTP1_CHUNK_END,  /* the CRLF after the data */
    HTTP1_TRAILERS
};

struct http1 {
    enum http1_state state;
    bool lax;           /* tolerated what RFC 9112 forbids a sender */
    bool cr;            /* the last byte of a chunk line or its end was CR */
    uint8_t digits;     /* of a chunk size */
    uint32_t line_n;    /* bytes of the unfinished line, CR included */
    uint32_t section_n; /* bytes of head or trailers so far */
    uint64_t left;
};

/* What a step found in the bytes that it took. */
enum http1_step {
    HTTP1_MORE,     /* nothing ended; take on with what is left */
    HTTP1_LINE,     /* the start line ended */
    HTTP1_HEAD,     /* the head ended: call http1_body next */
    HTTP1_END,      /* the message ended */
    HTTP1_TOO_LONG, /* a line or a section passed its limit */
    HTTP1_BROKEN    /* the chunk framing is not HTTP */
};

enum http1_kind {
    HTTP1_BLANK,   /* empty line before a start line: of no message */
    HTTP1_FRAMING, /* head, chunk lines, trailers */
    HTTP1_CONTENT  /* body, transfer coding chunked removed */
};

struct http1_piece {
    enum http1_kind kind;
    size_t n; /* bytes taken; not 0 unless the step ended something */
};

enum http1_framing {
    HTTP1_NO_BODY,
    HTTP1_LENGTH,
    HTTP1_CHUNKED,
    HTTP1_CLOSE /* the body ends with the connection */
};

/* Ready for a message. */
void http1_init(struct http1 *h);
/* Takes a prefix of in (not empty). After END, TOO_LONG and BROKEN the state
 * is that of http1_init. */
enum http1_step http1_next(struct http1 *h, struct span in,
                           struct http1_piece *ret_piece);
/* After HTTP1_HEAD. True: the message has no body and ended here. */
bool http1_body(struct http1 *h, enum http1_framing f, uint64_t length);

/*
 * n bytes are missing here. HTTP1_MORE: they lie inside the body and framing
 * goes on exactly; HTTP1_END: the body ended with the missing bytes' last
 * one; HTTP1_BROKEN: it is lost where the message ends (state as after init).
 */
enum http1_step http1_gap(struct http1 *h, uint64_t n);
/* True when the end of the connection ends the message well. */
bool http1_ends_at_close(const struct http1 *h);
/* True between messages: no byte of a message was taken. */
bool http1_idle(const struct http1 *h);

#endif
