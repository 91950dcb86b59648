/*
 * markup.h - reads a page back, strictly, to see that all markup on it is the
 * page's own: every "<" starts an element of the list, with attributes of the
 * list, double-quoted values without "<", elements closed in order.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_WEB_MARKUP_H
#define TESTS_WEB_MARKUP_H

#include "store/span.h"

/* NULL, or what is wrong (static). */
const char *markup_wrong(struct span page);

#endif
