/*
 * daemon.h - what both daemons of the room share: how they start, the
 * directories that they watch, and how their records reach the store.
 *
 *     daemon_main   options, log, signals, settings --> the program's own run
 *                                                             |
 *     a directory of the state --watch--> names --> its loop: one at a time
 *                                                             |
 *                              the store's socket <--outbox-- a record
 *
 * A program says what it is in one struct and lives in its run, until it is
 * done or daemon_stop is set.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <signal.h>
#include <stdbool.h>

struct settings;

/* Set by SIGTERM and SIGINT. */
extern volatile sig_atomic_t daemon_stop;

/* From here on both signals set it, and make daemon_stop_fd readable for good:
 * whoever waits for that cannot miss a signal that came just before, or in
 * another thread. daemon_main does it. 0, or a negative errno. */
int daemon_catch_signals(void);
int daemon_stop_fd(void); /* -1 before */

struct daemon_program {
    const char *name, *usage;
    bool operands; /* it takes some */
    /* What it is for; once: what is there now, then ends. The exit code;
     * EXIT_USAGE prints the usage. */
    int (*run)(const struct settings *s, bool once, int argc, char **argv);
    /* These operands need no settings where there are none: then s is NULL.
     * NULL: they always do. */
    bool (*is_free)(int argc, char **argv);
};

/* The main of a program, and its exit code. */
int daemon_main(const struct daemon_program *p, int argc, char **argv);

/* Becomes the user and keeps what enum sandbox_allow says, or dies. */
void daemon_give_up_rights(const char *user, unsigned allow);

#endif
