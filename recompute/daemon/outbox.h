/*
 * outbox.h - adding records through the store's socket, over restarts of the
 * store and full disks: a record is offered until it is durable or refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "store/client.h"

#include <signal.h>

struct outbox {
    const char *run_dir, *role;        /* borrowed */
    const volatile sig_atomic_t *stop; /* set: give up waiting */
    struct store_client *client;       /* NULL: not connected */
};

/* 0; -EINTR: stopped before it was durable; -EPERM, -EACCES, -EINVAL,
 * -EMSGSIZE and whatever else is no passing trouble. After a broken connection
 * the record may stand twice: its readers take the first. */
int outbox_put(struct outbox *o, const struct put *p);
void outbox_fini(struct outbox *o);

#endif
