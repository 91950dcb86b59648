/*
 * request_rows.h - what an engine's feed says about one request: the rows of
 * the index's batch_step_member with its id, the sequences that they are, one a
 * choice, and whether each is whole.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_REQUEST_ROWS_H
#define SAMPLER_REQUEST_ROWS_H

#include "store/query.h"

struct request_row {
    uint64_t seq; /* of the batch_step leaf */
    uint64_t pos;
    int64_t step_ns;
    uint64_t choice, start, n, cached, prompt_n;
    uint8_t digest[32]; /* of the prompt; zeros where prompt_n is 0 */
};

/* The rows of one request, by choice and then in the order of the records. */
struct request_rows {
    char *request;
    struct request_row *rows;
    size_t n, size;
    bool engines_own; /* all its messages say so of their members' ids */
};

/* Where a sequence disagrees with itself; class NULL: nowhere. */
struct flaw {
    const char *class;
    const char *detail;
    uint64_t expected, seen;
    uint64_t seq; /* of the batch_step where it shows */
};

/* The rows of one choice. */
struct sequence {
    const struct request_row *rows;
    size_t n;
};

/* What a sequence adds up to. */
struct sequence_sum {
    uint64_t prompt_n; /* announced, else where its first row starts */
    bool announced;
    bool warming; /* taken as such: it sampled for nobody (observed.h) */
    uint8_t digest[32];
    uint64_t least, most; /* tokens sampled */
    struct flaw flaw;     /* the first */
};

/* Asks the index about one request after another. Must not move: its questions
 * leave their first error here, after which none is asked. */
struct rows_reader {
    struct query rows, rewinds;
    int err;
};

void rows_reader_open(struct rows_reader *r, sqlite3 *db);
void rows_reader_close(struct rows_reader *r);

/* What reads here returns 0, -EIO or -ENOMEM. */

/*
 * All rows of a request, none: n is 0; run: of a request id that was used more
 * than once, which of its runs from 0, a run beginning where the prompt is
 * announced; runs: how many there are to tell apart, 1 takes all.
 */
int request_rows_load(struct rows_reader *r, const char *request, size_t run,
                      size_t runs, struct request_rows *ret_p);
void request_rows_free(struct request_rows *p);

/* The sequence that begins at row *at; *at moves past it. */
struct sequence request_rows_sequence(const struct request_rows *p, size_t *at);
int sequence_sum(struct rows_reader *r, const char *request, struct sequence s,
                 struct sequence_sum *ret_sum);

/* The lowest position to which this choice was rewound after leaf range[0], up
 * to leaf range[1]; NOT_REWOUND if it was not. */
#define NOT_REWOUND UINT64_MAX
int rows_rewind(struct rows_reader *r, const char *request, uint64_t choice,
                const uint64_t range[2], uint64_t *ret_position);

#endif
