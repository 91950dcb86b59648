/*
 * log_frame.h - one leaf's frame in log/leaves, for reader and writer; drawn in
 * store/leaflog.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LOG_FRAME_H
#define STORE_LOG_FRAME_H

#include "store/merkle.h"

enum { LOG_LENGTH_BYTES = 4, LOG_OFFSET_BYTES = 8 };

/* The leaf's length from a frame's first four bytes; 0: no such frame. */
size_t log_frame_length(struct span start);
/* Bytes of the frame of a leaf of n bytes. */
size_t log_frame_bytes(size_t n);
/* Takes a frame apart; false if the leaf is not the one that was hashed. */
bool log_frame_parse(struct span frame, struct span *ret_leaf,
                     uint8_t ret_unit[MERKLE_HASH]);

#endif
