/*
 * delivery.h - the order in which both directions are told: each one's bytes
 * and gaps in their own order, and what answers something after it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_DELIVERY_H
#define TAP_DELIVERY_H

#include "tcp/flow.h"

/* Bytes whose sender had got `needs` of the peer's have to wait for those. */
bool delivery_must_wait(struct direction *d, uint64_t needs);
/* Hands over the bytes at next. */
void delivery_tell(struct stream_table *t, struct direction *d,
                   struct span bytes, int64_t time_ns);
/* The bytes from contig to `to` will not come. What is before them has been
 * handed over. */
void delivery_gap(struct stream_table *t, struct direction *d, uint64_t to,
                  enum gap_cause cause);
/* Where a hole at contig ends, at most at limit. */
uint64_t delivery_hole_end(struct direction *d, uint64_t limit);
/* Lets old bytes go that need not be compared with any more. */
void delivery_trim(struct stream_table *t, struct direction *d);
/* Hands over what both directions have, as far as holes allow. */
void delivery_run(struct stream_table *t, struct flow *f);
/* Hands over what this one has, whatever it waits for. */
void delivery_force(struct stream_table *t, struct direction *d);
/* Hands over everything of both directions, with gaps between. */
void delivery_finish(struct stream_table *t, struct flow *f);

#endif
