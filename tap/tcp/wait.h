/*
 * wait.h - how long a direction waits for bytes: one queue for each kind of
 * wait (flow.h), in the order in which the waits began.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_WAIT_H
#define TAP_WAIT_H

#include "tcp/flow.h"

/* Begins the wait that the direction's state asks for, or ends the one that
 * it does not ask for any more. */
void wait_update(struct stream_table *t, struct direction *d);
void wait_end(struct stream_table *t, struct direction *d);
/* The direction that has waited longest, or NULL. */
struct direction *wait_longest(const struct stream_table *t);

#endif
