/*
 * query.h - the few shapes in which reconciliation asks the index.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_QUERY_H
#define SAMPLER_QUERY_H

#include <sqlite3.h>
#include <stdint.h>

/* Prepares the three texts joined; the caller finalizes *ret_s. -EIO,
 * -ENOMEM. */
int query_prepare(sqlite3 *db, const char *before, const char *columns,
                  const char *after, sqlite3_stmt **ret_s);
/* Binds ?1 and ?2; -EIO. */
int query_bind(sqlite3_stmt *s, uint64_t a, uint64_t b);
/* The first column of the first row, with ?1 and ?2 bound; *seq stays as it is
 * without a row. -EIO, -ENOMEM. */
int query_first(sqlite3 *db, const char *sql, int64_t a, int64_t b,
                uint64_t *seq);

#endif
