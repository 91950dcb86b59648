/*
 * outbox.c - adding records over restarts of the store: outbox.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/outbox.h"

#include <errno.h>
#include <time.h>

#include "config/log.h"

enum { WAIT_MS = 500 };

static bool passing(int err)
{
    switch (err) {
    case -EPIPE:
    case -ECONNRESET:
    case -ECONNREFUSED:
    case -ENOENT:
    case -ENOSPC:
    case -EAGAIN:
    case -ETIMEDOUT:
    case -EINTR:
        return true;
    default:
        return false;
    }
}

static int try_put(struct outbox *o, const struct put *p)
{
    struct put_ack ack;
    int err = 0;

    if (o->client == NULL)
        err = store_connect(o->run_dir, o->role, WAIT_MS, &o->client);
    if (err == 0)
        err = store_put(o->client, p, &ack);
    return err;
}

int outbox_put(struct outbox *o, const struct put *p)
{
    const struct timespec pause = {0, WAIT_MS * 1000000L};
    struct put put = *p;
    bool told = false;
    int err;

    while (passing(err = try_put(o, &put))) {
        outbox_fini(o);
        put.again = true;
        if (*o->stop)
            return -EINTR;
        if (!told)
            log_warnx("waiting for the store kind=%s err=%d", p->kind, -err);
        told = true;
        (void)nanosleep(&pause, NULL); /* a shorter pause is as good */
    }
    return err;
}

void outbox_fini(struct outbox *o)
{
    if (o->client != NULL)
        store_close(o->client);
    o->client = NULL;
}
