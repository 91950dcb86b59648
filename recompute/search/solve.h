/*
 * solve.h - one claim into its verdict, with what is lent so far.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_SOLVE_H
#define SEARCH_SOLVE_H

#include "search/context.h"

/* last: nobody will be solved any more who may lend it a prefix. The claim is
 * not hopeless. */
int solve_claim(struct search_context *x, size_t claim, bool last);

#endif
