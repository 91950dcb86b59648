/*
 * comparer.h - the loop of assay-compare.
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
