/*
 * logfile.h - the log on disk, for the one process that writes it: recovery at
 * start, and batches of leaves that are there as a whole or not at all.
 * The files are drawn in store/leaflog.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LOGFILE_H
#define STORE_LOGFILE_H

#include "log/logscan.h"
#include "store/merkle.h"

struct logfile;

/*
 * Opens STATE/log, makes it if it is not there, hashes every leaf again, and
 * cuts an incomplete tail. heads: the tree heads that were signed, by size.
 * -ENODATA: leaves that a signed head or the offsets cover are missing or
 * changed (no leaf is touched then, and *ret_report says which); -errno.
 */
int logfile_open(const char *state_dir, const struct merkle_head *heads,
                 size_t n_heads, struct logfile **ret_l,
                 struct log_report *ret_report);
void logfile_close(struct logfile *l);

uint64_t logfile_count(const struct logfile *l); /* committed leaves */
uint64_t logfile_next(const struct logfile *l);  /* with those pending */
struct merkle_head logfile_head(const struct logfile *l); /* committed */
const struct merkle_range *logfile_range(const struct logfile *l); /* same */

/* Adds a leaf to the batch. -ENOMEM. */
int logfile_append(struct logfile *l, struct span leaf,
                   uint8_t ret_unit[MERKLE_HASH]);
/* Makes the batch durable. After -errno the batch is gone and the log is as
 * it was before; after -ENOTRECOVERABLE nothing is known (a sync or the way
 * back failed): the process must end. */
int logfile_commit(struct logfile *l);
void logfile_abandon(struct logfile *l);

#endif
