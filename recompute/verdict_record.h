/*
 * verdict_record.h - a comparison as the record `verdict` and its payload.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VERDICT_RECORD_H
#define VERDICT_RECORD_H

#include "compare.h"
#include "store/record.h"

/* Writes the keys of kind `verdict`. first: the first run's result, or NULL.
 * False if they do not fit. */
bool verdict_record(const struct claim *c, const struct result *first,
                    const struct comparison *x, struct record *r);

#endif
