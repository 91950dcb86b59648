/*
 * index.h - the SQLite index of the log, for reading.
 *
 *   kinds --index_schema--> tables
 *   leaf --index_row--> rows; indexer: as far as the log, again after a crash
 *   query: one question, in every room; precedence: may this record follow?
 *
 * Arrows: index sees base, log and vault; ledger, job and daemon see index.
 *
 * Tables: one a kind and one a `many` key, as kind.h says, and
 *   checkpoint(size, root, note)        every signed checkpoint
 *   vault(seq, pos, name, commitment, offset, len)
 *       where the payloads lie in the vault file; offset NULL: it is lost
 *   state(leaves, vault_end)            how far the index has read: a leaf with
 *       seq >= leaves is in the log but not yet in the tables
 * It lags the log by moments, and after a crash until the store has started.
 * Can be made again from log, vault and checkpoints: `assay rebuild`.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include <sqlite3.h>

/* Opens STATE/index.db read-only, with a busy timeout. The caller closes
 * *ret_db with sqlite3_close. Keep read transactions short: the store cannot
 * shrink the WAL under one. -ENOENT, -EACCES, -EIO, -ENOMEM. */
int index_open_readonly(const char *state_dir, sqlite3 **ret_db);

#endif
