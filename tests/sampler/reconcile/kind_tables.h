/*
 * kind_tables.h - the index's tables for tests, made from kind.c by the words
 * of kind.h alone; every column has a default, so that a test writes only what
 * it is about.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_KIND_TABLES_H
#define TESTS_KIND_TABLES_H

#include <sqlite3.h>

/* A database in memory with all tables, empty; aborts when it cannot. The
 * caller closes it. */
sqlite3 *kind_tables_open(void);

#endif
