/*
 * indexer.h - the index, for the one process that fills it. Every row comes
 * from the log, the vault's headers and the checkpoint files, by the same code
 * while the store runs, after a crash, and when it is made again.
 *
 * The index is not synced with each batch: WAL with synchronous=NORMAL keeps
 * it whole after a power cut, may lose its last transactions, and the log has
 * them. A transaction holds the rows and how far it has read.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_INDEXER_H
#define STORE_INDEXER_H

#include <sqlite3.h>

#include "store/leaflog.h"
#include "vault/vault.h"

struct indexer;

/* Opens or makes the index at path. -ESTALE: it is of another version, or no
 * database at all: it has to be made again. -errno. */
int indexer_open(const char *path, struct indexer **ret_x);
/* The same for a new file that is renamed when it is whole: no journal. */
int indexer_create(const char *path, struct indexer **ret_x);
void indexer_close(struct indexer *x);
sqlite3 *indexer_db(const struct indexer *x); /* for reading */

uint64_t indexer_leaves(const struct indexer *x);    /* leaves it has read */
uint64_t indexer_vault_end(const struct indexer *x); /* vault bytes, too */
uint64_t indexer_lost(const struct indexer *x); /* payloads found missing */

/* Reads leaves up to end (exclusive), at most max of them, in a transaction.
 * After -errno the index is as it was. -EBADMSG: a leaf cannot be read;
 * -ENOSPC; -EIO: SQLite failed, the reason is sqlite3_errmsg. */
int indexer_forward(struct indexer *x, struct leaflog *log, struct vault *v,
                    uint64_t end, uint64_t max);
/* Marks payloads lost that lie behind the vault's end, and goes on before
 * it. */
int indexer_check_vault(struct indexer *x, uint64_t vault_end);
/* Adds a signed checkpoint unless it is there. note: NUL-terminated. */
int indexer_add_checkpoint(struct indexer *x, const struct merkle_head *head,
                           const char *note);
/* Size of the largest checkpoint it has; 0: none. */
uint64_t indexer_last_checkpoint(const struct indexer *x);
/* Moves the WAL into the database when it has grown. The only checkpoints
 * there are: Debian 12's SQLite can lose pages when two connections make
 * them. */
int indexer_tidy(struct indexer *x);

#endif
