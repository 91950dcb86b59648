/*
 * recent.h - the latest leaves by what they say. A peer whose connection broke
 * does not know which of its records were taken: it sends them again, and the
 * ones that stand in the log already are found here.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_RECENT_H
#define STORE_RECENT_H

#include "store/kind.h"
#include "store/leaflog.h"

/* Leaves that are looked back: more than all peers may have on the way. */
enum { RECENT_LEAVES = 16384 };

struct recent;

struct recent_leaf {
    uint64_t seq;
    uint8_t unit[MERKLE_HASH];
};

/* log is borrowed until recent_free. NULL: no memory. */
struct recent *recent_new(struct leaflog *log);
void recent_free(struct recent *r);
/* The latest leaf before `end` of this kind and with this body, byte for byte.
 * -ENOENT: none of the last RECENT_LEAVES; or an error of leaflog_read. */
int recent_find(struct recent *r, uint64_t end, const struct kind *k,
                struct span body, struct recent_leaf *ret_leaf);

#endif
