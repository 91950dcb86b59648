/*
 * clock.c - the two clocks: clock.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec t = {0};

    (void)clock_gettime(id, &t); /* both clocks are there on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_steady_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_steady_ms(void)
{
    return read_ns(CLOCK_MONOTONIC) / 1000000;
}
