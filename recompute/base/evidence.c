/*
 * evidence.c - bits of evidence, and their price.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/evidence.h"

#include <math.h>

#include "store/dialect.h"

enum { CHANCE_LOG2 = -16, FRACTION_BITS = 23 };

double evidence_of(const struct api_candidate *c)
{
    double v = fabs(c->logprob);
    double bits;

    if (!c->has_logprob || c->has_prob || !isfinite(v) || v == 0)
        return 0;
    bits = CHANCE_LOG2 - (floor(log2(v)) - FRACTION_BITS);
    return bits > 0 ? bits : 0;
}

double evidence_after(double bits, uint64_t tried)
{
    bits -= log2((double)(tried > 1 ? tried : 1));
    return bits > 0 ? bits : 0;
}
