/*
 * reason.h - why a claim or a result cannot be compared, as a word of
 * docs/records.md.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_REASON_H
#define COMPARE_REASON_H

#include "store/dialect.h"
#include "store/job.h"

/* Why this claim cannot be compared with anything; NULL: it can. x: its parsed
 * exchange. */
const char *compare_reason(const struct claim *c, enum parse parsed,
                           const struct api_exchange *x);
/* Why this result is no answer to the claim; NULL: it is one. */
const char *compare_result_reason(const struct claim *c,
                                  const struct result *r);

#endif
