/*
 * comparer.h - the loop of assay-compare: what the store has prepared for it
 * in, records out.
 *
 *     claim, results of a unit --compare/compare.h--> comparison
 *                                                         |
 *                          verdict_record.h: record `verdict` and its payload
 *
 * A file that is no claim or no result is a verdict with its reason, never a
 * unit without one. Sees compare, daemon and base; no engine, no arithmetic.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARER_H
#define COMPARER_H

#include <stdbool.h>

struct settings;

/* Decides what lies in the state directory; once: what can be decided now.
 * Returns an exit code, EXIT_AGAIN if some claim still waits. */
int comparer_run(const struct settings *s, bool once);

#endif
