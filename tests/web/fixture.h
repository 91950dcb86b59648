/*
 * fixture.h - an index with made-up records, for tests of the page: the
 * tables of store/index/index_schema.c, filled row by row. A record is a list
 * of "key", "value" pairs, NULL at the end; keys left out are 0, empty, or 32
 * zero bytes; a `many` key is given once an element, its columns separated by
 * commas.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_WEB_FIXTURE_H
#define TESTS_WEB_FIXTURE_H

#include <sqlite3.h>

#include "site.h"

struct fixture {
    char dir[256]; /* the state directory */
    sqlite3 *db;
    uint64_t seq; /* of the next record */
    struct site site;
};

struct unit_name {
    char hex[65];
};

/* dir: an empty directory; NULL: one is made under /tmp. */
void fixture_open(struct fixture *f, const char *dir);
/* Removes the index and its directory. */
void fixture_close(struct fixture *f);
/* Adds a record, time 2026-11-29T12:00:00Z plus its seq in seconds; returns
 * its leaf hash, made from its seq. */
struct unit_name fixture_add(struct fixture *f, const char *kind,
                             const char *const *pairs);
#define ADD(f, kind, ...) \
    fixture_add(f, kind, (const char *const[]){__VA_ARGS__, NULL})
/* Adds a signed checkpoint over all records so far; the first call adds the
 * genesis record before it. */
void fixture_seal(struct fixture *f);
/* Makes what was added visible. */
void fixture_commit(struct fixture *f);

/* The world most tests look at: an epoch with 40 requests, 6 drawn, verdicts
 * of every kind, batch steps, findings, losses; then 3 requests that no epoch
 * holds. */
struct world {
    struct fixture f;
    struct unit_name match, token, logprob, length, envelope, unstable,
        uncheckable, waiting, undrawn;
    struct unit_name token_verdict;
};
void world_open(struct world *w, const char *dir);
void world_close(struct world *w);

/* Serves one request in this process. vars: "NAME=value", NULL at the end.
 * The answer is split; text is NUL-terminated. The caller frees answer.all. */
struct answer {
    char *all, *head, *body;
    size_t body_n;
    int status;
};
struct answer serve(const struct site *site, const char *const *vars,
                    const char *body);
struct answer fetch(const struct site *site, const char *path_and_query);
/* Value of a header field, or NULL. In a static buffer. */
const char *answer_field(const struct answer *a, const char *name);

#endif
