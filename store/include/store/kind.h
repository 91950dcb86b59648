/*
 * kind.h - the kinds of records, their keys, and who may add them.
 *
 * One table drives everything that knows a record's inside: the grammar the
 * store enforces before it appends, the index tables it fills (rebuilt from
 * the leaves alone), and docs/records.md. A leaf is
 *
 *     assay-rec/v1 LF  type KIND LF  seq N LF  time_ns T LF
 *     the kind's keys, in the table's order, each "key SP value LF"
 *     NAME_commit BASE64 LF  NAME_len N LF      for each payload
 *
 * Every key of the kind stands exactly once, unless it is `many` (zero or more
 * lines). Values: U64 decimal without leading zeros, below 2^63; HEX lower
 * case, "-" for an empty one; TEXT with every byte outside
 * [A-Za-z0-9._:/+=@-], and no other, written %XX (upper case), and "-" for an
 * empty one (a text that is "-" is written %2D). A key with columns holds one
 * TEXT, HEX or U64 a column, separated by commas.
 *
 * Index: a table KIND with the columns seq, time_ns, unit (BLOB, the leaf hash
 * of RFC 6962), one column a key (U64 as INTEGER, HEX as BLOB, TEXT decoded as
 * TEXT), NAME_len and NAME_commit a payload; for a `many` key the table
 * KIND_KEY(seq, pos, columns...), the column named "value" if it has none.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_KIND_H
#define STORE_KIND_H

#include "store/span.h"

enum role {
    ROLE_STORE = 1 << 0, /* assay-store itself */
    ROLE_TAP = 1 << 1,
    ROLE_SAMPLER = 1 << 2,
    ROLE_RECOMPUTE = 1 << 3,
    ROLE_COMPARE = 1 << 4,
    ROLE_WEB = 1 << 5
};

enum value_type { VALUE_U64, VALUE_HEX, VALUE_TEXT };

struct column {
    const char *name;
    enum value_type type;
};

struct key {
    const char *name;
    enum value_type type; /* of the whole value, without columns */
    bool many;
    const struct column *columns; /* ends with a NULL name; NULL: one value */
};

struct kind {
    const char *name;
    unsigned roles;         /* who may add it */
    const struct key *keys; /* ends with a NULL name */
    const char *payloads;   /* names, separated by spaces, in order; "" none.
                               A record may leave one out. */
};

/* The table; ends with a NULL name. */
extern const struct kind kinds[];

/* NULL if there is no such kind. */
const struct kind *kind_find(const char *name);
const struct kind *kind_of(struct span name);

#endif
