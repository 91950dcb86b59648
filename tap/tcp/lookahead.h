/*
 * lookahead.h - memory that the next segments will touch, fetched ahead.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_LOOKAHEAD_H
#define TAP_LOOKAHEAD_H

#include "tcp/segment.h"

enum { PREFETCH_SEGMENTS = 32 };

struct stream_table;

/* At most PREFETCH_SEGMENTS that will be pushed next: the memory of their
 * connections is fetched, all at once. Changes nothing. */
void stream_prefetch(struct stream_table *t, const struct segment *const *s,
                     size_t n);

#endif
