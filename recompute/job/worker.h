/*
 * worker.h - the commands of assay-recompute.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WORKER_H
#define WORKER_H

#include <signal.h>
#include <stdbool.h>

struct settings;

/* Set by SIGTERM and SIGINT. */
extern volatile sig_atomic_t worker_stop;

/* Runs the packets in the state directory; once: those that are there, then
 * ends. Returns an exit code. */
int worker_run(const struct settings *s, bool once);
/* operands: NAME DIR [ENGINE]; s is needed. Prints the manifest's digest. */
int worker_register(const struct settings *s, int argc, char **argv);
/* FILE [--against DIR] [--repeat N] [--trace]. s may be NULL with --against. */
int worker_replay(const struct settings *s, int argc, char **argv);

#endif
