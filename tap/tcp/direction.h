/*
 * direction.h - the bytes of one direction: in order, each once, or a gap.
 * Comes in: what segments say of bytes, acknowledgements and ends. Goes out,
 * through delivery.h: the bytes that have no hole before them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_DIRECTION_H
#define TAP_DIRECTION_H

#include "tcp/flow.h"

/* Offset 0 is here; nothing came before. */
void direction_begin(struct direction *d, uint64_t pos, enum start start);
/* The base turns out to lie earlier. False if it cannot be. */
bool direction_move_base(struct direction *d, uint64_t pos);
/* The peer acknowledges this number. */
void direction_ack(struct direction *d, uint32_t ack);
/* Its sender closes it after the byte before pos. */
void direction_fin(struct direction *d, uint64_t pos);
/* False: wild numbers, the bytes were refused. */
bool direction_data(struct stream_table *t, struct direction *d,
                    const struct segment *s, uint64_t pos);
/* Hands over what can be handed over now, in both directions, and waits for
 * the rest. */
void direction_settle(struct stream_table *t, struct direction *d);
/* The receiver may have got other bytes than those of n at pos, which came or
 * will come: told as a conflict. */
void direction_doubt(struct stream_table *t, struct direction *d, uint64_t pos,
                     uint64_t n);
/* The wait is over. force: because of a full pool, whatever it waits for. */
void direction_give_up(struct stream_table *t, struct direction *d, bool force);

#endif
