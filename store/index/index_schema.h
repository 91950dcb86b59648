/*
 * index_schema.h - the SQL that follows from the table of kinds. Each text is
 * the caller's, who ends it with sqlite3_free; NULL: no memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_INDEX_SCHEMA_H
#define STORE_INDEX_SCHEMA_H

#include "store/kind.h"

/* All tables and their indexes. */
char *index_schema(void);
/* INSERT of a kind's row, and of a `many` key's. */
char *index_insert_row(const struct kind *k);
char *index_insert_many(const struct kind *k, const struct key *key);

#endif
