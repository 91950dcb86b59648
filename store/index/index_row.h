/*
 * index_row.h - one leaf into rows. The statements are kept for the life of
 * the index.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_INDEX_ROW_H
#define STORE_INDEX_ROW_H

#include <sqlite3.h>

#include "store/leaflog.h"

/* A payload that the leaf names. */
struct index_payload {
    uint32_t place;   /* in the kind's list */
    struct span name; /* static: of the kind */
    uint8_t commitment[32];
    uint64_t len;
};

enum { INDEX_PAYLOADS = 16 };

struct index_rows;

int index_rows_open(sqlite3 *db, struct index_rows **ret_r);
void index_rows_close(struct index_rows *r);
/* Inserts the leaf's rows; what payloads it names goes out. -EBADMSG: not a
 * leaf of a known kind; -EIO or -ENOSPC: SQLite failed. */
int index_rows_insert(struct index_rows *r, const struct leaf *leaf,
                      struct index_payload ret_payloads[INDEX_PAYLOADS],
                      size_t *ret_n);
/* Steps a statement that gives no rows, and resets it. */
int index_step(sqlite3_stmt *s);

#endif
