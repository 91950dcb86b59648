/*
 * watch.h - files that appear in directories: those that are there, then each
 * new one (inotify(7); the store renames into place, so a name is a whole
 * file).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WATCH_H
#define WATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct watch;

struct watch_name {
    char text[NAME_MAX + 1];
};

/* Watches up to two directories (b may be NULL). A name is given again when
 * its file is replaced, and any name may be when events were lost. */
int watch_open(const char *a, const char *b, struct watch **ret_w);
void watch_close(struct watch *w);
/* The next name; waits up to wait_ms (0: not at all). 0; -EAGAIN: none;
 * -EINTR: the daemon is to stop, or a signal came; -EIO. */
int watch_next(struct watch *w, int wait_ms, struct watch_name *ret_name);

/* Gives every name again. */
void watch_again(struct watch *w);

/* Splits EPOCH-UNIT followed by anything; false if it is no such name. */
bool watch_unit(const char *name, uint64_t *ret_epoch, uint8_t ret_unit[32]);

#endif
