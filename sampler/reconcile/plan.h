/*
 * plan.h - what an engine's feed says about one request: the rows of the
 * index's batch_step_member with its id, and whether they make a whole.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_PLAN_H
#define SAMPLER_PLAN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_row {
    uint64_t seq; /* of the batch_step leaf */
    uint64_t pos;
    int64_t step_ns;
    uint64_t choice, start, n, cached, prompt_n;
    uint8_t digest[32]; /* of the prompt; zeros where prompt_n is 0 */
};

/* The rows of one request, by choice and then in the order of the records. */
struct plan {
    char *request;
    struct plan_row *rows;
    size_t n;
    bool engines_own; /* all its messages say so of their members' ids */
};

/* Where a plan disagrees with itself; class NULL: nowhere. */
struct flaw {
    const char *class;
    const char *detail;
    uint64_t expected, seen;
    uint64_t seq; /* of the batch_step where it shows */
};

/* One choice of a plan. */
struct strand {
    const struct plan_row *rows;
    size_t n;
};

/* What a strand adds up to. */
struct strand_sum {
    uint64_t prompt_n; /* announced, else where its first row starts */
    bool announced;
    bool warming; /* taken as such: it sampled for nobody (wire.h) */
    uint8_t digest[32];
    uint64_t least, most; /* tokens sampled */
    struct flaw flaw;     /* the first */
};

struct plan_reader {
    sqlite3 *db;
    sqlite3_stmt *rows, *rewinds;
};

/* 0, -EIO, -ENOMEM. */
int plan_reader_open(sqlite3 *db, struct plan_reader *ret_r);
void plan_reader_close(struct plan_reader *r);

/*
 * All rows of a request, none is a plan with n 0; run: of a request id that
 * was used more than once, which of its runs from 0, a run beginning where the
 * prompt is announced; runs: how many there are to tell apart, 1 takes all.
 */
int plan_load(struct plan_reader *r, const char *request, size_t run,
              size_t runs, struct plan *ret_p);
void plan_free(struct plan *p);

/* The strand that begins at row *at; *at moves past it. */
struct strand plan_strand(const struct plan *p, size_t *at);
int strand_sum(struct plan_reader *r, const char *request, struct strand s,
               struct strand_sum *ret_sum);

/* The lowest position to which this choice was rewound after leaf range[0], up
 * to leaf range[1]; PLAN_NOT_REWOUND if it was not. */
#define PLAN_NOT_REWOUND UINT64_MAX
int plan_rewind(struct plan_reader *r, const char *request, uint64_t choice,
                const uint64_t range[2], uint64_t *ret_position);

#endif
