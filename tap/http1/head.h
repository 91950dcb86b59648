/*
 * head.h - the head of an HTTP/1 message: start line and fields, and what they
 * say about the body (RFC 9112 sections 3, 4, 5 and 6.3).
 * Comes in: the bytes of a head as captured, whole or cut off. Goes out: the
 * few facts the tap needs, as ranges of those bytes. Whatever two recipients
 * may read in two ways is told in `broken`, never silently chosen.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_HEAD_H
#define TAP_HEAD_H

#include "http1/http1.h"
#include "store/span.h"

enum head_side { HEAD_REQUEST, HEAD_RESPONSE };

/* Part of a message's raw bytes. */
struct range {
    uint32_t at;
    uint32_t n;
};

enum coding { CODING_GZIP, CODING_DEFLATE, CODING_UNKNOWN };
enum { HEAD_CODINGS = 4 };

/* Codings in the order in which they were applied. */
struct codings {
    uint8_t n;
    uint8_t of[HEAD_CODINGS];
};

struct head {
    enum head_side side;
    struct range method, target; /* of a request */
    uint16_t status;             /* of a response */
    uint8_t minor;               /* HTTP/1.minor */
    enum http1_framing framing;  /* of the body, see head_response_framing */
    uint64_t length;
    bool event_stream; /* Content-Type: text/event-stream */
    struct codings content;
    struct codings transfer; /* other than chunked; applied after content */
    bool broken;   /* ambiguous or against the rules: cause `framing` */
    bool hopeless; /* and nobody can say where the body ends */
};

/* Could these be the first bytes of a start line? The cheap test that tells
 * HTTP from everything else and finds messages after a gap. */
bool head_plausible(struct span begin, enum head_side side);
/* Is this (with or without its line end) a start line? Strict. */
bool head_start_line(struct span line, enum head_side side);
/* A request line gone wrong: a registered method, but no target or version as
 * they should be. Servers answer such lines. */
bool head_broken_request(struct span line);
/* Reads a head whose first line one of the two above accepts. It may end
 * anywhere; framing is then not to be used. */
void head_parse(struct span raw, enum head_side side, struct head *ret_h);
/* A response's framing depends on the method it answers (section 6.3, items 1
 * and 2); method: empty if the request is not known. */
enum http1_framing head_response_framing(const struct head *h,
                                         struct span method);

struct span range_of(struct span raw, struct range r);

#endif
