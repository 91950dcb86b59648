/*
 * precedence.h - what an epoch has once, and what must stand before it: close,
 * signature, reveals, seed, draw, a verdict for each drawn unit, certificate.
 * The sampler keeps to it by itself; the store does not take its word, so that
 * a sampler that was taken over can neither draw again nor learn a reveal
 * before its frame is signed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_PRECEDENCE_H
#define STORE_PRECEDENCE_H

#include <sqlite3.h>

#include "store/kind.h"
#include "store/span.h"

/* Is there a rule for this kind? Then precedence_check wants an index that has
 * all records before the one it is asked about. */
bool precedence_binds(const struct kind *k);
/* 0: a record of this kind with this body may follow; a body that breaks the
 * grammar is not for this file to refuse. -EEXIST: the epoch has one; -EPERM:
 * what must stand before it does not; *ret_why (static) says so. -EIO. */
int precedence_check(sqlite3 *db, const struct kind *k, struct span body,
                     const char **ret_why);

#endif
