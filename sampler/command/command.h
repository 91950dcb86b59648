/*
 * command.h - the table of assay-sampler's commands.
 *
 *     assay-sampler NAME OPERANDS   settings, sampler_open  (sampler_main.c)
 *         close, reveal, certify, enrol, policy: once       command.c
 *         list: the epochs, and what each waits for         command_list.c
 *         run: closes and advances by itself, for ever      command_run.c
 *         chain: a party's own, without record or settings  command_chain.c
 *
 * A command says what it did on stdout, what went wrong on stderr, and gives an
 * exit code (config/exit.h). Sees epoch and seed; nothing of the room sees it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_COMMAND_H
#define SAMPLER_COMMAND_H

#include "epoch/epoch.h"

struct settings;

/* argv[0] is the command's name. Each returns an exit code. */
struct command {
    const char *name;
    const char *operands;
    const char *doc;
    int (*run)(struct sampler *s, const struct settings *set, int argc,
               char **argv);
    int (*alone)(int argc, char **argv); /* needs no record and no settings */
};

extern const struct command commands[]; /* ends with a NULL name */

/* Says on stderr what went wrong and returns the exit code for it. */
int command_failed(const char *what, int err);
/* Reads a whole small file, or stdin for "-", into text, NUL-terminated. */
int command_read(const char *path, char *text, size_t size, size_t *ret_n);
/* Advances every epoch that is not certified as far as it goes, and logs a
 * stalled one. */
int command_advance_all(struct sampler *s, bool *ret_waiting);
uint64_t command_now_ns(void);

int command_run(struct sampler *s, const struct settings *set, int argc,
                char **argv);
int command_list(struct sampler *s, const struct settings *set, int argc,
                 char **argv);
int command_chain(int argc, char **argv);

#endif
