/*
 * observed.h - an exchange of an inference API as the tap observed it, and what
 * the sequences that the engine tells must add up to for it: pure rules over
 * counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_OBSERVED_H
#define SAMPLER_OBSERVED_H

#include "reconcile/request_rows.h"

struct observed {
    uint64_t seq;
    uint8_t unit[32];
    int64_t from_ns, to_ns;
    uint64_t status;
    char *api, *id;
    uint64_t choices; /* sequences that it has, at least 1 */
    uint64_t tokens_in, tokens_out;
    bool exact; /* tokens_out is no lower bound */
    bool complete;
    uint64_t rank, same; /* among the exchanges with this id */
};

/* The columns that observed_read takes, in its order, of `exchange x`. */
#define OBSERVED_COLUMNS                                                  \
    "x.seq,x.unit,x.req_first_ns,x.resp_last_ns,x.status,x.api,x.api_id," \
    "x.tokens_in,x.tokens_out,x.tokens_from,x.complete,x.choices,"        \
    "(SELECT count(*) FROM exchange y WHERE y.api_id=x.api_id AND"        \
    " x.api_id<>'' AND y.seq<x.seq),"                                     \
    "(SELECT count(*) FROM exchange y WHERE y.api_id=x.api_id AND"        \
    " x.api_id<>'')"

/* The row that a question for OBSERVED_COLUMNS came to; 0 or -ENOMEM. */
int observed_read(const struct query *q, struct observed *ret_o);
void observed_free(struct observed *o);

/* The engine ran for it and must have told so. */
bool observed_was_answered(const struct observed *o);
/* Its answer does not carry the engine's id: a sequence may be its by shape. */
bool observed_lacks_id(const struct observed *o);

/* The sequences taken for one exchange, a sum each. */
struct sums {
    struct sequence_sum *p;
    size_t n, size;
};
/* -ENOMEM. */
int sums_add(struct sums *s, const struct sequence_sum *sum);
void sums_fini(struct sums *s);

/* The first flaw of the sums, of their prompts, of their tokens. */
struct flaw observed_compare(const struct observed *o, const struct sums *s);
/* It asked for more answers than it has sequences. */
bool observed_lacks_choices(const struct observed *o, const struct sums *s);
/* How well n sequences that ran in its time, with this sum, fit an exchange
 * without an id; the worst fit is better than none: what does not fit is then a
 * size_diff. */
int observed_likeness(const struct observed *o, const struct sequence_sum *sum,
                      size_t n);
/* They are all that the wire tells of it. */
bool observed_fits(const struct observed *o, const struct sequence_sum *sum,
                   size_t n);
/* How well a sequence fits as a further choice of an exchange that has these: 0
 * not at all. */
int observed_choice_likeness(const struct observed *o, const struct sums *s,
                             const struct sequence_sum *sum);

/* SGLang warms its cache with a prompt before it answers it several times: a
 * sequence over a prompt alone that these have, the first such, where the wire
 * counted a prompt once that several of these have. It counts for nothing. */
bool observed_is_warming(const struct observed *o, const struct sums *s,
                         const struct sequence_sum *sum);

#endif
