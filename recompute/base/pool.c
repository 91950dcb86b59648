/*
 * pool.c - threads that share the items of one job at a time.
 *
 * A job is a number of items and a counter; whoever is free takes the next
 * one. A forward pass is some hundred jobs of some ten microseconds, so a
 * thread that finds no work looks for a while before it sleeps.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cpu.h"

enum { LOOKS = 20000, THREADS_MAX = 256 };

/* A thread; the caller of pool_run is worker 0 and has none. */
struct worker {
    struct pool *pool;
    unsigned number;
    pthread_t thread;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    unsigned threads, started;
    struct worker *worker;

    /* The job. number changes when there is a new one; all threads but the
     * caller count themselves out of it. */
    atomic_uint number;
    atomic_uint busy;
    atomic_bool end;
    pool_item *item;
    void *arg;
    size_t n;
    atomic_size_t next;
};

static void pool_work(struct pool *p, unsigned worker)
{
    size_t i;

    while ((i = atomic_fetch_add(&p->next, 1)) < p->n)
        p->item(p->arg, i, worker);
}

/* Returns when the number is no longer `seen`. */
static void pool_wait(struct pool *p, unsigned seen)
{
    for (int i = 0; i < LOOKS; i++)
        if (atomic_load(&p->number) != seen)
            return;
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->number) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *pool_thread(void *arg)
{
    struct worker *w = arg;
    struct pool *p = w->pool;
    unsigned seen = 0;

    /* Inherited from the thread that made this one. */
    assert(cpu_float_environment() == 0);
    for (;;) {
        pool_wait(p, seen);
        seen++;
        if (atomic_load(&p->end))
            return NULL;
        pool_work(p, w->number);
        atomic_fetch_sub(&p->busy, 1);
    }
}

static void pool_announce(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->number, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

void pool_run(struct pool *p, pool_item *item, void *arg, size_t n)
{
    if (p->started == 0 || n <= 1) {
        for (size_t i = 0; i < n; i++)
            item(arg, i, 0);
        return;
    }
    p->item = item;
    p->arg = arg;
    p->n = n;
    atomic_store(&p->next, 0);
    atomic_store(&p->busy, p->started);
    pool_announce(p);
    pool_work(p, 0);
    /* The others are within their last items; with more threads than CPUs
     * one of them may wait for ours. */
    for (int i = 0; atomic_load(&p->busy) != 0; i++)
        if (i >= LOOKS)
            sched_yield();
}

static unsigned cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

int pool_open(unsigned threads, struct pool **ret_p)
{
    struct pool *p = calloc(1, sizeof *p);
    int err = 0;

    if (p == NULL)
        return -ENOMEM;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->threads = threads == 0 ? cpus() : threads;
    if (p->threads > THREADS_MAX)
        p->threads = THREADS_MAX;
    p->worker = calloc(p->threads, sizeof *p->worker);
    if (p->worker == NULL)
        err = ENOMEM;
    while (err == 0 && p->started + 1 < p->threads) {
        struct worker *w = &p->worker[p->started];

        w->pool = p;
        w->number = p->started + 1;
        err = pthread_create(&w->thread, NULL, pool_thread, w);
        p->started += err == 0;
    }
    if (err != 0) {
        pool_close(p);
        return -err;
    }
    *ret_p = p;
    return 0;
}

void pool_close(struct pool *p)
{
    if (p == NULL)
        return;
    atomic_store(&p->end, true);
    pool_announce(p);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->worker[i].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p->worker);
    free(p);
}

unsigned pool_threads(const struct pool *p)
{
    return p->threads;
}
