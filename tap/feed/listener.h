/*
 * listener.h - assay-tap's own listener for the batch feed: a small HTTP/1.1
 * server that is polled, never waits, and answers a POST once its messages
 * are durable.
 * Comes in: an open listening socket. Goes out: the bodies of POSTs to a
 * target ending in /assay/v1/steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_LISTENER_H
#define TAP_LISTENER_H

#include <poll.h>

#include "feed/feed.h"

enum {
    LISTENER_CONNECTIONS = 32,
    LISTENER_FDS = LISTENER_CONNECTIONS + 1,
    LISTENER_POST_MAX = 16 << 20
};

struct listener;

/* "host:port", "[v6]:port" or ":port" (loopback). Opens and listens; the
 * descriptor is for listener_open, which takes it. -EINVAL, or an errno. */
int listener_socket(const char *where, int *ret_fd);

/* body: called for each POST; it adds to p->left and p->bad. */
typedef void (*listener_fn)(void *ctx, struct post *p, struct span body);
int listener_open(int fd, listener_fn body, void *ctx, struct listener **ret_l);
void listener_close(struct listener *l);
/* Fills at most LISTENER_FDS entries and returns their number. */
size_t listener_poll(const struct listener *l, struct pollfd *fds);
/* Reads, answers; fds as filled by listener_poll. */
void listener_serve(struct listener *l, const struct pollfd *fds, size_t n);
/* Answers the POSTs whose messages have become durable. */
void listener_settle(struct listener *l);

#endif
