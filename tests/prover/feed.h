/*
 * feed.h - the engine's side of docs/batch-feed.md: one message a forward
 * pass, POSTed over HTTP/1.1 on a connection of its own. A message is kept
 * until it was answered with 2xx, and sent again on a new connection.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FEED_H
#define FEED_H

#include "prover.h"

/* host and port: where to; target ends in /assay/v1/steps. All kept. */
int feed_open(const char *engine, const char *host, const char *port,
              struct feed **ret_f);
void feed_close(struct feed *f);

/* The pass that is about to run. */
void feed_pass(struct feed *f, uint64_t step, struct answer *const *answers,
               const struct member *members, size_t n);

/* Sends and receives what can be without waiting. */
void feed_run(struct feed *f);
/* Everything was taken. */
bool feed_idle(const struct feed *f);

#endif
