/*
 * frame.h - the sampling frame of an epoch: its exchanges, one entry each, in
 * the order of the log.
 *
 * Entry, 52 bytes, big-endian:
 *    0  8  index, from 0, without gaps
 *    8  4  stratum
 *   12  8  weight: tokens in and out
 *   20 32  unit: leaf hash of the exchange's record
 * The frame's root is the Merkle tree head of RFC 6962 section 2.1 with each
 * entry as leaf data.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_FRAME_H
#define SAMPLER_FRAME_H

#include "store/merkle.h"

enum { FRAME_ENTRY = 52 };

struct frame_unit {
    uint64_t weight;
    uint32_t stratum;
    bool complete;
    uint8_t unit[MERKLE_HASH];
};

/* Units in the order of their index. Owns the array. */
struct frame {
    struct frame_unit *units;
    size_t n, size;
};

void frame_init(struct frame *f);
void frame_fini(struct frame *f);
/* Appends a copy; its index is the number of units before. -ENOMEM. */
int frame_append(struct frame *f, const struct frame_unit *u);
void frame_entry(const struct frame *f, size_t index,
                 uint8_t ret_entry[FRAME_ENTRY]);
void frame_root(const struct frame *f, uint8_t ret_root[MERKLE_HASH]);

#endif
