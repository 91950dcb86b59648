/*
 * layer_digests.h - digests of the layers' outputs at drawn positions, so that
 * a worker that was told the answer must still have computed it.
 *
 * Position p of choice c (counted from the prompt's first token) is drawn if
 * the first four bytes, big-endian, of SHA-256("assay-drawn/1" NUL, nonce, u32
 * c, u32 p, both big-endian) are below 2^28: one position in 16. The digest of
 * a position is SHA-256 over the layers in order, for each its number and its
 * row of float32 bits, as u32, big-endian.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LAYER_DIGESTS_H
#define LAYER_DIGESTS_H

#include "store/span.h"

struct layer_digests;

/* nonce: 16 bytes, copied; hidden: floats in a row. NULL: out of memory. */
struct layer_digests *layer_digests_open(const uint8_t nonce[16],
                                         uint32_t choice, size_t hidden);
void layer_digests_close(struct layer_digests *d);
/* layer_seen of forward.h; arg: the struct layer_digests. */
void layer_digests_seen(void *arg, uint32_t layer, size_t position,
                        const float *row);
/* Number of drawn positions that were seen, and digest i in their order.
 * -ENOMEM or -EIO if one was lost on the way. */
int layer_digests_count(struct layer_digests *d, size_t *ret_n);
int layer_digests_get(struct layer_digests *d, size_t i,
                      uint8_t ret_digest[32]);

#endif
