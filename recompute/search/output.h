/*
 * output.h - output rows: the logits of the steps as the batches found give
 * them, handed to whoever asked for a claim.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_OUTPUT_H
#define SEARCH_OUTPUT_H

#include <stddef.h>

struct search_context;

/*
 * The claims that are asked for. found takes the rows of the answer's first n
 * steps, as far as batches were found: of a claim that is solved all, of one
 * that is refuted up to the first that no batch gives, as the likeliest gives
 * it. It returns 1 where a solved answer did not end with its tokens: then it
 * is called again with the row after the last one under each shape, until it
 * returns 0. Below 0 ends the search.
 */
struct output_rows {
    size_t first, n; /* of the claims; 0: nobody asks, nothing is run */
    int (*found)(void *arg, size_t claim, const float *rows, size_t n);
    void *arg;
};

/* The rows of the claim that was just replayed, if it was asked for; its
 * verdict stands. */
int output_report(struct search_context *x);

#endif
