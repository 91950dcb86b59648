/*
 * downtime.h - times in which a tap saw nothing because it did not run: what
 * passed then is in no record, and no engine is to be blamed for it.
 *
 * A live tap accounts for its traffic without a break from its start to its
 * end (docs/records.md, `traffic`), and begins with an account of nothing. So
 * it did not run between the end of an account and the beginning of its next,
 * nor before its first.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_DOWNTIME_H
#define SAMPLER_DOWNTIME_H

#include "store/query.h"

struct downtime {
    uint64_t seq;     /* of the account that ends it */
    uint8_t unit[32]; /* its leaf */
    char tap[64];
    int64_t from_ns, to_ns;
    bool before_all;    /* nobody knows since when: the log had no such tap */
    uint64_t sequences; /* set aside, as they may have run then */
};

struct downtimes {
    struct downtime *p;
    size_t n, size;
};

/* Those that end in an account from leaf `first` on, or at from_ns or later.
 * The caller calls downtimes_fini even on failure. 0, -EIO, -ENOMEM. */
int downtimes_load(struct downtimes *d, sqlite3 *db, uint64_t first,
                   int64_t from_ns);
void downtimes_fini(struct downtimes *d);

/* Up to when the live taps had accounted before leaf `first`; INT64_MAX if the
 * log has no account of a live tap. */
int downtimes_accounted(sqlite3 *db, uint64_t first, int64_t *ret_ns);
/* The leaf of the first account that reaches time_ns, from which on it is known
 * whether a tap ran then: 0 if the log has no account of a live tap, INT64_MAX
 * if none reaches it yet. */
int downtimes_known(sqlite3 *db, int64_t time_ns, uint64_t *ret_seq);

/* A sequence that ran from from_ns to to_ns: whether a tap was down at any
 * moment of it, or within late_ns after it: so long an answer may take to
 * leave, and what a tap had seen but not recorded is lost with it. It is
 * counted with the first that was. After a time that a tap was down no slack is
 * given, or whoever ends one would have that much to hide in: the clocks of
 * engine and tap are to agree. */
bool downtimes_excuse(struct downtimes *d, int64_t from_ns, int64_t to_ns,
                      int64_t late_ns);

#endif
