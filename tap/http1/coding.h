/*
 * coding.h - undoing content codings (RFC 9110 section 8.4.1): gzip and
 * deflate, the latter with zlib's wrapping or, as some servers send it, bare.
 * Comes in: the coded bytes and the codings in the order they were applied.
 * Goes out: the bytes underneath, in memory of a fixed size: a bomb ends at
 * its limit.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CODING_H
#define TAP_CODING_H

#include "http1/head.h"

struct decoder;

/* limit: most bytes of one decoded body. 0 or -ENOMEM. */
int decoder_open(size_t limit, struct decoder **ret_d);
void decoder_close(struct decoder *d);

enum decoded {
    DECODED_WHOLE,
    DECODED_CUT,      /* the coded bytes end too early; what came is there */
    DECODED_BAD,      /* not of this coding, or damaged */
    DECODED_UNKNOWN,  /* a coding that we do not know */
    DECODED_TOO_LARGE /* the limit was reached */
};

/* *ret_body is borrowed from d until the next call; empty unless the result
 * is WHOLE or CUT. slot (0 or 1): two bodies can be held at once. */
enum decoded decoder_undo(struct decoder *d, int slot, struct span coded,
                          const struct codings *c, struct span *ret_body);

#endif
