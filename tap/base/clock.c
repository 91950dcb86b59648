/*
 * clock.c - capture times made into a clock for timeouts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"

static const int64_t step_back_ns = INT64_C(10000000000);
static const int64_t step_on_ns = INT64_C(60000000000);

bool clock_advance(struct tap_clock *c, int64_t time_ns)
{
    bool set_back = false;
    int64_t step;

    if (!c->started) {
        c->started = true;
        c->offset_ns = 0 - (uint64_t)time_ns;
        return false;
    }
    /* The distance modulo 2^64, so that no stamp can overflow it. */
    step = (int64_t)((uint64_t)time_ns + c->offset_ns - (uint64_t)c->now_ns);
    if (step < -step_back_ns) {
        set_back = true;
        step = 0;
        c->offset_ns = (uint64_t)c->now_ns - (uint64_t)time_ns;
    } else if (step > step_on_ns) {
        step = step_on_ns;
        c->offset_ns =
            (uint64_t)c->now_ns + (uint64_t)step_on_ns - (uint64_t)time_ns;
    }
    if (step > 0)
        c->now_ns += step;
    return set_back;
}
