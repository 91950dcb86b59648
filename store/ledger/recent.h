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

struct recent *recent_new(void); /* NULL: no memory */
void recent_free(struct recent *r);
/* The latest leaf before `end` of this kind and with this body, byte for byte.
 * -ENOENT: none of the last RECENT_LEAVES; or an error of leaflog_read. */
int recent_find(struct recent *r, struct leaflog *log, uint64_t end,
                const struct kind *k, struct span body, uint64_t *ret_seq,
                uint8_t ret_unit[MERKLE_HASH]);

#endif
