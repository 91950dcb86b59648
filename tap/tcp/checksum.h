/*
 * checksum.h - whether the receiver's stack takes a segment, by its checksum.
 *
 * Hosts drop what does not sum up. But a capture may show checksums that were
 * never sent: at a sender's own machine they are left to the network card,
 * which is given the sum of the pseudo header alone, or nothing (of bytes; a
 * bare SYN or acknowledgement may be whole); a receiver's machine joins
 * segments that it has checked and writes the same (GRO); and files have their
 * addresses changed. So what to expect is learnt, for each direction, and then
 *
 *                                              valid  partial  wrong
 *     SOUND      a valid one came, no bytes    take   take     drop
 *     CHECKED    bytes came with valid ones    take   (below)  drop
 *     OFFLOADED  with partial ones             take   take     drop
 *     ALTERED    the first was wrong           take   take     take
 *
 * A partial one in a checked direction was joined if it is longer than what its
 * receiver takes at once, or if the capture stands at an end of the connection
 * (the other direction is offloaded). Else nobody knows: it is taken in doubt,
 * and told as a conflict.
 *
 * Two valid segments that bring new bytes make a direction CHECKED after all.
 * What was taken before is then in doubt; and so is, where valid ones came at
 * all, what is sent again when there is nothing left to compare it with.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CHECKSUM_H
#define TAP_CHECKSUM_H

#include "tcp/flow.h"

enum checksum_effect { CHECKSUM_TAKE, CHECKSUM_DOUBT, CHECKSUM_DROP };

/* What becomes of a segment of this connection. */
enum checksum_effect checksum_judge(const struct flow *f,
                                    const struct segment *s);
/* Learns from a segment that was taken. True: what was taken before it is in
 * doubt. */
bool checksum_learn(struct flow *f, const struct segment *s);

#endif
