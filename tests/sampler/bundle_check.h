/*
 * bundle_check.h - what tests of bundles share: a world's bundle, its report,
 * and a row of it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SAMPLER_BUNDLE_CHECK_H
#define TESTS_SAMPLER_BUNDLE_CHECK_H

#include "bundle/export.h"
#include "verify/verify.h"
#include "world.h"

/* Each fails the test that calls it. */
struct bundle check_export(struct world *w, uint64_t epoch);
struct report check_verify(const struct bundle *b, const char *vkey);
const struct check *check_row(const struct report *r, const char *name);
/* The row fails with a detail that contains the text, and no row above it
 * fails: the reason is its own. */
void check_refused(const struct report *r, const char *name, const char *text);

#endif
