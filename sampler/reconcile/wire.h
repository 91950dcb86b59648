/*
 * wire.h - an exchange of an inference API as reconciliation sees it, and what
 * plans must add up to for it: pure rules over counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_WIRE_H
#define SAMPLER_WIRE_H

#include "reconcile/plan.h"

struct wire {
    uint64_t seq;
    uint8_t unit[32];
    int64_t from_ns, to_ns;
    uint64_t status;
    char *api, *id;
    uint64_t choices; /* plans that it has, at least 1 */
    uint64_t tokens_in, tokens_out;
    bool exact; /* tokens_out is no lower bound */
    bool complete;
    uint64_t rank, same; /* among the exchanges with this id */
};

/* The columns that wire_read takes, in its order, of `exchange x`. */
extern const char wire_columns[];

/* The row of a statement over wire_columns; 0 or -ENOMEM. */
int wire_read(sqlite3_stmt *s, struct wire *ret_w);
void wire_free(struct wire *w);

/* The engine ran for it and must have told so. */
bool wire_was_answered(const struct wire *w);
/* Its answer does not carry the engine's id: a plan may be its by shape. */
bool wire_lacks_id(const struct wire *w);

/* The plans taken for one exchange, a sum each. */
struct sums {
    struct strand_sum *p;
    size_t n;
};
int sums_add(struct sums *s, const struct strand_sum *sum);

/* The first flaw of the sums, of their prompts, of their tokens. */
struct flaw wire_compare(const struct wire *w, const struct sums *s);
/* It asked for more answers than it has plans. */
bool wire_lacks_choices(const struct wire *w, const struct sums *s);
/* How well n plans that ran in its time, with this sum, fit an exchange without
 * an id; the worst fit is better than none: what does not fit is then a
 * size_diff. */
int wire_likeness(const struct wire *w, const struct strand_sum *sum, size_t n);
/* They are all that the wire tells of it. */
bool wire_fits(const struct wire *w, const struct strand_sum *sum, size_t n);
/* How well a plan fits as a further choice of an exchange that has these: 0
 * not at all. */
int wire_choice_likeness(const struct wire *w, const struct sums *s,
                         const struct strand_sum *sum);

/* SGLang warms its cache with a prompt before it answers it several times: a
 * plan over a prompt alone that these have, the first such, where the wire
 * counted a prompt once that several of these have. It counts for nothing. */
bool wire_is_warming(const struct wire *w, const struct sums *s,
                     const struct strand_sum *sum);

#endif
