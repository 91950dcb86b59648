/*
 * where.h - a SELECT that grows condition by condition. Text comes from
 * literals; every value from outside is bound, never written into it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_WHERE_H
#define WEB_WHERE_H

#include "db/db.h"

enum { WHERE_TEXT_MAX = 4096, WHERE_BINDS_MAX = 24 };

struct where {
    char sql[WHERE_TEXT_MAX];
    size_t n;
    struct {
        const char *text; /* borrowed; NULL: number */
        uint64_t number;
    } binds[WHERE_BINDS_MAX];
    size_t n_binds;
};

/* sql: a literal. */
void where_add(struct where *w, const char *sql);
void where_text(struct where *w, const char *sql, const char *value);
void where_u64(struct where *w, const char *sql, uint64_t value);
struct query where_open(const struct where *w, struct db *db);

#endif
