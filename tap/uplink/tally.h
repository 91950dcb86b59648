/*
 * tally.h - many occurrences of one cause become few records: the first of an
 * interval each get their own, the others are added up until the interval
 * ends.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_TALLY_H
#define TAP_TALLY_H

#include "uplink/notice.h"

enum { TALLY_CELLS = 40 };

struct tally_cell {
    struct notice sum; /* count 0: nothing waits */
    unsigned left;     /* notices of this interval that may still go alone */
};

typedef bool (*tally_fn)(void *ctx, const struct notice *n);

struct tally {
    struct tally_cell cells[TALLY_CELLS];
    size_t n;
    unsigned alone; /* per cause and interval */
    tally_fn put;   /* false: no room now, it is kept in the sum */
    void *ctx;
};

void tally_init(struct tally *t, unsigned alone, tally_fn put, void *ctx);
void tally_add(struct tally *t, const struct notice *n);
/* The interval is over: what waits is put. */
void tally_flush(struct tally *t);

#endif
