/*
 * test_clock.c - one clock is the time of day, the other never goes back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <time.h>

#include "config/clock.h"

static void the_wall_clock_is_the_time_of_day(void **state)
{
    int64_t before = time(NULL), now_s = clock_wall_ns() / 1000000000;

    (void)state;
    /* time() may read a tick that is some milliseconds old. */
    assert_true(now_s >= before && now_s <= time(NULL) + 1);
}

static void the_steady_clock_never_goes_back(void **state)
{
    int64_t last = clock_steady_ns();

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_steady_ns();

        assert_true(now >= last);
        last = now;
    }
    assert_true(clock_steady_ms() >= last / 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wall_clock_is_the_time_of_day),
        cmocka_unit_test(the_steady_clock_never_goes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
