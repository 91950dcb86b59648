/*
 * stray.h - sequences that no answer names, in the order of time: they may be
 * those of exchanges whose answer does not carry the engine's id.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_STRAY_H
#define SAMPLER_STRAY_H

#include "reconcile/request_rows.h"

/* One a request and choice. */
struct stray {
    char *request;
    bool engines_own; /* so is this request: all answers to a prompt have it */
    struct sequence_sum sum;
    uint64_t choice;
    uint64_t first_seq, last_seq; /* leaves of its first and last row */
    int64_t from_ns, to_ns;       /* their times on the engine's clock */
    bool taken;                   /* by an exchange */
    size_t sibling; /* the next one of this request, around in a ring */
};

struct strays {
    struct stray *p; /* ordered by from_ns */
    size_t n, size;
};

struct leaves {
    uint64_t first, end;
};

/* Those with rows in these leaves, whole. The caller calls strays_fini
 * even on failure. 0, -EIO, -ENOMEM. */
int strays_load(struct strays *s, sqlite3 *db, struct rows_reader *r,
                struct leaves in);
void strays_fini(struct strays *s);

/* Where the ones that begin at or after this time begin. */
size_t strays_first(const struct strays *s, int64_t from_ns);
/* The next one from *i on that nobody has taken and that ended by to_ns, or
 * NULL; *i moves past it. */
struct stray *strays_next(const struct strays *s, int64_t to_ns, size_t *i);

/* Adds up the sequences of this one's request that nobody has taken, and
 * returns how many there are: an engine's own id names all answers to a prompt.
 */
size_t strays_family(const struct strays *s, const struct stray *of,
                     struct sequence_sum *ret_sum);

#endif
