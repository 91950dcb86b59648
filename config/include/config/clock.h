/*
 * clock.h - the two clocks that every program has, in nanoseconds.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_CLOCK_H
#define CONFIG_CLOCK_H

#include <stdint.h>

/* The time of day, since 1970: what records say. It may jump. */
int64_t clock_wall_ns(void);
/* Since some moment of this boot: for deadlines. It never goes back. */
int64_t clock_steady_ns(void);
int64_t clock_steady_ms(void);

#endif
