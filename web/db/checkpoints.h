/*
 * checkpoints.h - which signed checkpoint a leaf lies under, and whether its
 * signature holds. The page never says "sealed" without having checked it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_CHECKPOINTS_H
#define WEB_CHECKPOINTS_H

#include "db/db.h"

enum seal_state {
    SEAL_NONE,   /* no checkpoint covers the leaf yet */
    SEAL_GOOD,   /* signed by the log's key, size and root as in the index */
    SEAL_NO_KEY, /* the genesis record, and so the key, is not there */
    SEAL_BAD
};

/* The smallest checkpoint above the leaf, or the largest of all. */
enum sealed_which { SEALED_FIRST, SEALED_NEWEST };

struct sealed {
    enum seal_state state;
    uint64_t size;
    struct span note; /* in memory */
    uint8_t *memory;  /* owned */
};

void sealed_find(struct db *db, uint64_t leaf, enum sealed_which which,
                 struct sealed *ret_s);
void sealed_fini(struct sealed *s);
const char *seal_words(enum seal_state state);

#endif
