/*
 * operation.h - what a peer may ask of the store: to add a record, to sign a
 * checkpoint, to open a payload; who may ask what stands in store/kind.h and
 * here. Comes in: one frame. Goes out: its answer, or its place in the batch.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DAEMON_OPERATION_H
#define STORE_DAEMON_OPERATION_H

#include "daemon/batch.h"

/* Afterwards the peer may be dead, or the batch's disk fatal. */
void operation_do(struct batch *b, struct peer *p, const struct frame *f);

#endif
