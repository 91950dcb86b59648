/*
 * neighbours.h - what else an engine answered that may have shared batches or
 * cache with a drawn exchange: the exchanges of a search job.
 *
 * Comes in: a unit whose own bodies are taken. Goes out: job.exchanges: the
 * unit's own first, then, in the order of the log, exchanges with the same
 * server that began before its end. Taken are, up to NEIGHBOURS_MAX of
 * together NEIGHBOURS_BYTES: those that ran beside it; the first ones of the
 * epoch, which filled the caches; those that ended last before it.
 *
 * left_beside and left_before count what should be there and is not: beyond
 * the bounds, incomplete, payloads gone; beside it also losses of the tap.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_NEIGHBOURS_H
#define STORE_NEIGHBOURS_H

#include "job/unit.h"

enum { NEIGHBOURS_MAX = 256, NEIGHBOURS_BYTES = 16 << 20 };

/* -ENOMEM, -EIO. */
int neighbours_take(struct unit *u, struct ledger *l);
/* The unit's own exchange alone. -ENOMEM. */
int neighbours_none(struct unit *u);

#endif
