/*
 * drawn.h - digests of the layers' outputs at drawn positions, so that a
 * worker that was told the answer must still have computed it.
 *
 * Position p of choice c (counted from the prompt's first token) is drawn if
 * the first four bytes, big-endian, of SHA-256("assay-drawn/1" NUL, nonce, u32
 * c, u32 p, both big-endian) are below 2^28: one position in 16. The digest of
 * a position is SHA-256 over the layers in order, for each its number and its
 * row of float32 bits, as u32, big-endian.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DRAWN_H
#define DRAWN_H

#include "store/span.h"

struct drawn;

/* nonce: 16 bytes, copied; hidden: floats in a row. NULL: out of memory. */
struct drawn *drawn_open(const uint8_t nonce[16], uint32_t choice,
                         size_t hidden);
void drawn_close(struct drawn *d);
/* layer_seen of forward.h; arg: the struct drawn. */
void drawn_seen(void *arg, uint32_t layer, size_t position, const float *row);
/* Number of drawn positions that were seen, and digest i in their order.
 * -ENOMEM or -EIO if one was lost on the way. */
int drawn_count(struct drawn *d, size_t *ret_n);
int drawn_digest(struct drawn *d, size_t i, uint8_t ret_digest[32]);

#endif
