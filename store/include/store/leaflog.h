/*
 * leaflog.h - the log on disk, for reading: every leaf's exact bytes, in
 * order, in one append-only file that only assay-store writes.
 *
 * STATE/log/leaves:  for each leaf
 *     0  4    n, big-endian, 1..RECORD_MAX
 *     4  n    the leaf
 *   4+n  32   its leaf hash (RFC 6962)
 * STATE/log/offsets: for each leaf the u64, big-endian, where its frame starts
 *     in `leaves`. Written after the leaf was synced: a leaf with an offset is
 *     durable. Made again from `leaves` when it is lost.
 *
 * Any number of processes may read while the store appends.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LEAFLOG_H
#define STORE_LEAFLOG_H

#include "store/merkle.h"
#include "store/span.h"

struct leaflog;

struct leaf {
    uint64_t seq;
    struct span bytes;         /* borrowed: until the next read of this log */
    uint8_t unit[MERKLE_HASH]; /* its leaf hash, computed from the bytes */
};

/* Opens STATE's log for reading. -ENOENT and so on. */
int leaflog_open(const char *state_dir, struct leaflog **ret_l);
void leaflog_close(struct leaflog *l);
/* Durable leaves, now. */
uint64_t leaflog_count(struct leaflog *l);
/* Leaf seq. -ENOENT: not there yet; -EBADMSG: its bytes are not those that
 * were written; or the errno of reading. Reading in order is fastest. */
int leaflog_read(struct leaflog *l, uint64_t seq, struct leaf *ret_leaf);

#endif
