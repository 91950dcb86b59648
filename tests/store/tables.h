/*
 * tables.h - two indexes, row by row.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STORE_TABLES_H
#define TESTS_STORE_TABLES_H

/* Tables whose rows differ, each named on stderr; -1: cannot be read. */
int tables_differ(const char *path, const char *other);
/* One integer of a query; aborts if there is none. */
long long tables_query(const char *path, const char *sql);
/* A copy of the index as it stands, WAL included. 0 or -1. */
int tables_keep(const char *path, const char *copy);

#endif
