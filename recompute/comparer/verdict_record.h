/*
 * verdict_record.h - a comparison as the record `verdict` and its payload.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VERDICT_RECORD_H
#define VERDICT_RECORD_H

#include "compare/comparison.h"
#include "store/job.h"
#include "store/record.h"

/* Writes the keys of kind `verdict`. first: the first run's result, or NULL.
 * False if they do not fit. */
bool verdict_record(const struct claim *c, const struct result *first,
                    const struct comparison *x, struct record *r);

/* The same of kind `reproduced`: the comparison with what a mismatch was tried
 * with; r->detail names it, or says that nothing gave the answer. */
bool reproduced_record(const struct claim *c, const struct result *r,
                       const struct comparison *x, struct record *ret_r);

#endif
