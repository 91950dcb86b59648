/*
 * inbox.h - files that appear in directories: those that are there, then each
 * new one (inotify(7); the store renames into place, so a name is a whole
 * file).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef INBOX_H
#define INBOX_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct inbox;

struct inbox_name {
    char text[NAME_MAX + 1];
};

/* Watches up to two directories (b may be NULL). A name is given again when
 * its file is replaced, and any name may be when events were lost. */
int inbox_open(const char *a, const char *b, struct inbox **ret_i);
void inbox_close(struct inbox *i);
/* The next name; waits up to wait_ms (0: not at all). 0; -EAGAIN: none;
 * -EINTR: a signal came; -EIO. */
int inbox_next(struct inbox *i, int wait_ms, struct inbox_name *ret_name);

/* Gives every name again. */
void inbox_again(struct inbox *i);

/* Splits EPOCH-UNIT followed by anything; false if it is no such name. */
bool inbox_unit(const char *name, uint64_t *ret_epoch, uint8_t ret_unit[32]);

#endif
