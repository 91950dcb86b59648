/*
 * exit.h - the exit codes of every program.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_EXIT_H
#define CONFIG_EXIT_H

enum exit_code {
    EXIT_GOOD = 0,
    EXIT_BAD = 1, /* done, and the answer is bad */
    EXIT_USAGE = 2,
    EXIT_SETTINGS = 3,
    EXIT_IO = 4, /* I/O, or not found */
    EXIT_NOT_PERMITTED = 5,
    EXIT_INCOMPLETE = 6, /* nothing bad, but not everything was checked */
    EXIT_AGAIN = 75,     /* busy, try again */
    EXIT_INTERRUPTED = 130
};

#endif
