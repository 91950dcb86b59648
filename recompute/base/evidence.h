/*
 * evidence.h - what equal logprobs say against chance.
 *
 * A wrong computation of the same text differs by some 2^-17 at least, so that
 * of the floats around a logprob it hits the right one with a chance of one in
 * 2^-16 / ulp. Added up over the logprobs of one alternative a position (others
 * of the row move with it), less log2 of the hypotheses tried.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include <stdint.h>

struct api_candidate;

/* Bits of one candidate whose logprob was met; 0: it has none. */
double evidence_of(const struct api_candidate *c);
/* What is left of them after so many tries; not below 0. */
double evidence_after(double bits, uint64_t tried);

#endif
