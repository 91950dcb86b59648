/*
 * differences.h - the payload `differences` of a verdict: claimed against
 * recomputed, position by position. assay-compare writes it, the page shows it
 * after a reveal. JSON of our own, read strictly: an unknown key, a missing
 * one or a wrong type is -EBADMSG with the reason in words.
 *
 * {"schema":"assay.differences/1",
 *  "rows":[{"choice":0,"position":42,"claimed":SIDE,"recomputed":SIDE}, ...],
 *  "top":{"claimed":[SIDE ...],"recomputed":[SIDE ...]},
 *  "envelope":[{"field":TEXT,"claimed":TEXT,"recomputed":TEXT}, ...]}
 *
 * rows      every compared position, by choice and position; of an answer
 *           longer than DIFFERENCES_ROWS_MAX those nearest to the verdict's
 * SIDE      null (that side has ended), or {"id":N or null (the API gave
 *           none),"bytes":HEX or null,"bits":BITS or null (no logprob)};
 *           BITS: float32 bits of the logprob, 8 lower-case hex digits
 * top       the candidates at the verdict's position, in their order of rank
 * envelope  fields that differ only; TEXT is UTF-8, written as it is shown
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIFFERENCES_H
#define STORE_DIFFERENCES_H

#include "store/span.h"

enum { DIFFERENCES_ROWS_MAX = 16384 };

struct difference_side {
    bool present;      /* false: this side has ended */
    int64_t id;        /* or -1: not given */
    struct span bytes; /* the token's bytes; p NULL: not given */
    bool has_bits;
    uint32_t bits; /* float32 bits of the logprob */
};

struct difference_row {
    uint32_t choice, position;
    struct difference_side claimed, recomputed;
};

struct difference_field {
    struct span name, claimed, recomputed;
};

struct differences {
    struct difference_row *rows;
    size_t n_rows;
    struct difference_side *top_claimed, *top_recomputed;
    size_t n_top_claimed, n_top_recomputed;
    struct difference_field *fields;
    size_t n_fields;
    void *memory; /* owns the arrays and spans of one that was read */
};

/* Returns the payload's bytes in *ret_bytes, which the caller frees. -EINVAL:
 * a text is no UTF-8; -ENOMEM. */
int differences_write(const struct differences *d, char **ret_bytes,
                      size_t *ret_n);
/* Borrows nothing: the struct owns copies until differences_free. */
int differences_read(struct span bytes, struct differences *ret_d,
                     const char **ret_why);
void differences_free(struct differences *d);

#endif
