/*
 * clock.h - capture times made into a clock for timeouts.
 * Comes in: capture times, which may step in either direction. Goes out: time
 * that never steps back. Two interfaces may be a little apart, so a frame may
 * be older than the one before. A large step back is the capture's clock being
 * set: ours goes on from where it is. A large step on counts as a minute at
 * most, so that one wild stamp cannot end every wait.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CLOCK_H
#define TAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed is stopped at 0. */
struct tap_clock {
    int64_t now_ns;
    uint64_t offset_ns; /* now - capture time, modulo 2^64 */
    bool started;
};

/* True if the capture's clock was set back. */
bool clock_advance(struct tap_clock *c, int64_t time_ns);

#endif
