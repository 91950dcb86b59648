/*
 * pool.h - threads that share the items of one job at a time. Which thread
 * runs which item is left to chance: an item's result may not depend on it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

struct pool;

/* worker: below pool_threads, one job at a time for each, so that it can
 * number scratch memory. */
typedef void pool_item(void *arg, size_t item, unsigned worker);

/* threads: the caller counts as one; 0: one for each CPU this process may
 * use. -ENOMEM, or the errno of starting a thread. */
int pool_open(unsigned threads, struct pool **ret_p);
void pool_close(struct pool *p);
unsigned pool_threads(const struct pool *p);

/* Calls item(arg, i, worker) for each i < n, and returns when all have
 * returned. */
void pool_run(struct pool *p, pool_item *item, void *arg, size_t n);

#endif
