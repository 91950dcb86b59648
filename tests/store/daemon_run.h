/*
 * daemon_run.h - an assay-store of the tests: its own directory, started,
 * stopped and killed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STORE_DAEMON_RUN_H
#define TESTS_STORE_DAEMON_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/record.h"

struct daemon_run {
    char program[512];
    char dir[256]; /* holds assay.conf, state, run, stderr.txt */
    char state[300], run[300], conf[300];
    long max_file_bytes; /* RLIMIT_FSIZE of the daemon; 0: none */
    pid_t pid;
};

/* Makes the directory under $TMPDIR (or /tmp). program: of assay-store. more:
 * further settings of the store's group. Aborts with a message on failure. */
void daemon_make(struct daemon_run *d, const char *program, const char *more);
/* Removes the directory; the daemon must not run. */
void daemon_remove(struct daemon_run *d);
void daemon_start(struct daemon_run *d);
/* Sends the signal and waits; the exit status as of waitpid. */
int daemon_signal(struct daemon_run *d, int signal_number);
/* Runs the program with --rebuild (or another word) and returns its status. */
int daemon_run_word(struct daemon_run *d, const char *word);
/* CPU time of the running daemon in nanoseconds. */
long long daemon_cpu_ns(const struct daemon_run *d);

/* The body of an exchange record, different for each n, about 500 bytes. */
void sample_exchange(struct record *r, unsigned n);

#endif
