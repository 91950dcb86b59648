/*
 * rows.h - an index of a few rows: a test adds exchanges and batch steps, has
 * them reconciled and says what must have been found.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_RECONCILE_ROWS_H
#define TESTS_RECONCILE_ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/reconcile.h"

enum { SECOND = 1000000000 };

struct rows {
    sqlite3 *db;
    char found[8][96]; /* "class request expected seen" */
    size_t n;
    uint8_t object[32]; /* of the last */
    struct reconcile_counts counts;
    struct reconcile_options options;
};

struct seconds {
    int from, to;
};

/* Of a test with a struct rows, no row in it, for its state. */
int rows_set_up(void **state);
int rows_tear_down(void **state);

/* Runs what sqlite3_mprintf made, and frees it. */
void rows_run(struct rows *r, char *sql);

/* A complete exchange of 4 prompt and `out` sampled tokens. */
void rows_exchange(struct rows *r, int seq, const char *id, int out,
                   struct seconds when);

void rows_step(struct rows *r, int seq, int second);

/* A row of the step seq: n tokens from position start. */
void rows_member(struct rows *r, int seq, const char *id, int start, int n);

/* A step with one row. */
void rows_pass(struct rows *r, int seq, const char *id, int start, int n);

/* Findings of the records from first to before end. */
void rows_reconcile(struct rows *r, uint64_t first, uint64_t end);

/* There was this finding alone. */
void rows_expect(struct rows *r, const char *finding);

#endif
