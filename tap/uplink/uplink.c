/*
 * uplink.c - the queue between the capturing thread and the recording one, and
 * the latter's loop. What becomes of the work is in recorder.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uplink/uplink.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "feed/listener.h"
#include "uplink/recorder.h"

enum {
    NOTICES_MAX = 4096, /* queued */
    TICK_MS = 500,
    RETRY_MS = 200 /* between attempts to connect */
};

struct queued_notice {
    struct queued_notice *next;
    struct notice notice;
};

struct uplink {
    struct uplink_config config;
    struct recorder *recorder; /* of the thread, once it runs */
    struct listener *listener;
    pthread_t thread;
    bool running;
    int wake_fd;

    pthread_mutex_t lock;
    pthread_cond_t progress;
    /* Guarded by lock. */
    struct slot *in_first, *in_last;
    struct queued_notice *notices_first, *notices_last;
    size_t n_notices;
    struct slot *back; /* done with */
    size_t on_way;     /* exchanges taken and not yet back */
    bool busy;         /* the recorder has something under way */
    bool finishing, stopping;
    uint64_t steps; /* of progress */

    atomic_bool has_back, turned_away;
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wake(struct uplink *u)
{
    uint64_t one = 1;

    /* It can only fail when the counter is full, and then it is awake. */
    if (write(u->wake_fd, &one, sizeof one) < 0)
        return;
}

/* ---- the capturing thread's side */

bool uplink_exchange(struct uplink *u, struct slot *s, const char *source)
{
    bool first = false, room;

    (void)pthread_mutex_lock(&u->lock);
    room = u->on_way < u->config.queue_max;
    if (room) {
        s->source = source;
        s->next = NULL;
        first = u->in_first == NULL;
        *(first ? &u->in_first : &u->in_last->next) = s;
        u->in_last = s;
        u->on_way++;
    }
    (void)pthread_mutex_unlock(&u->lock);
    if (first)
        wake(u);
    return room;
}

bool uplink_notice(struct uplink *u, const struct notice *n)
{
    struct queued_notice *q = malloc(sizeof *q);
    bool room = false;

    if (q == NULL)
        return false;
    q->next = NULL;
    q->notice = *n;
    (void)pthread_mutex_lock(&u->lock);
    if (u->n_notices < NOTICES_MAX) {
        *(u->notices_first == NULL ? &u->notices_first
                                   : &u->notices_last->next) = q;
        u->notices_last = q;
        u->n_notices++;
        room = true;
    }
    (void)pthread_mutex_unlock(&u->lock);
    if (room)
        wake(u);
    else
        free(q);
    return room;
}

struct slot *uplink_returned(struct uplink *u)
{
    struct slot *s;

    if (!atomic_load_explicit(&u->has_back, memory_order_relaxed))
        return NULL;
    (void)pthread_mutex_lock(&u->lock);
    s = u->back;
    if (s != NULL)
        u->back = s->next;
    atomic_store_explicit(&u->has_back, u->back != NULL, memory_order_relaxed);
    (void)pthread_mutex_unlock(&u->lock);
    return s;
}

static bool idle(const struct uplink *u)
{
    return u->on_way == 0 && u->n_notices == 0 && !u->busy;
}

bool uplink_turned_away(const struct uplink *u)
{
    return atomic_load_explicit(&u->turned_away, memory_order_relaxed);
}

/* Waits for done(u, n), as long as something moves. */
static bool wait_until(struct uplink *u, size_t n, bool all, int timeout_ms)
{
    bool done;

    (void)pthread_mutex_lock(&u->lock);
    for (;;) {
        uint64_t steps = u->steps;
        struct timespec until;
        int64_t at = now_ns(CLOCK_REALTIME) + (int64_t)timeout_ms * 1000000;
        int rc = 0;

        until.tv_sec = at / 1000000000;
        until.tv_nsec = at % 1000000000;
        while (rc == 0 && !(done = all ? idle(u) : u->on_way <= n) &&
               steps == u->steps && !uplink_turned_away(u))
            rc = pthread_cond_timedwait(&u->progress, &u->lock, &until);
        if (done || rc != 0 || uplink_turned_away(u))
            break;
    }
    (void)pthread_mutex_unlock(&u->lock);
    return done;
}

bool uplink_wait(struct uplink *u, size_t n, int timeout_ms)
{
    return wait_until(u, n, false, timeout_ms);
}

bool uplink_finish(struct uplink *u, int timeout_ms)
{
    (void)pthread_mutex_lock(&u->lock);
    u->finishing = true;
    u->busy = true; /* until the thread has looked */
    (void)pthread_mutex_unlock(&u->lock);
    wake(u);
    return wait_until(u, 0, true, timeout_ms);
}

/* ---- the recording thread */

/* Takes what has been queued; returns whether the end was asked for. */
static bool take_in(struct uplink *u, bool *ret_finishing)
{
    struct slot *s;
    struct queued_notice *q;
    bool stop;

    (void)pthread_mutex_lock(&u->lock);
    s = u->in_first;
    q = u->notices_first;
    u->in_first = u->in_last = NULL;
    u->notices_first = u->notices_last = NULL;
    u->n_notices = 0;
    if (s != NULL || q != NULL)
        u->busy = true;
    *ret_finishing = u->finishing;
    stop = u->stopping;
    (void)pthread_mutex_unlock(&u->lock);
    while (s != NULL) {
        struct slot *next = s->next;

        recorder_exchange(u->recorder, s);
        s = next;
    }
    while (q != NULL) {
        struct queued_notice *next = q->next;

        recorder_notice(u->recorder, &q->notice);
        free(q);
        q = next;
    }
    return stop;
}

/* Gives back what is durable. */
static void give_back(struct uplink *u)
{
    struct slot *s = recorder_take_done(u->recorder);
    bool moved = recorder_moved(u->recorder);

    (void)pthread_mutex_lock(&u->lock);
    while (s != NULL) {
        struct slot *next = s->next;

        s->next = u->back;
        u->back = s;
        u->on_way--;
        s = next;
        moved = true;
    }
    if (u->back != NULL)
        atomic_store_explicit(&u->has_back, true, memory_order_relaxed);
    u->busy =
        u->in_first != NULL || u->n_notices > 0 || !recorder_idle(u->recorder);
    if (!u->busy && u->finishing)
        u->finishing = false;
    if (moved)
        u->steps++;
    if (recorder_turned_away(u->recorder)) {
        atomic_store_explicit(&u->turned_away, true, memory_order_relaxed);
        moved = true;
    }
    if (moved || !u->busy)
        (void)pthread_cond_broadcast(&u->progress);
    (void)pthread_mutex_unlock(&u->lock);
}

static void drain_wake(struct uplink *u)
{
    uint64_t n;

    if (read(u->wake_fd, &n, sizeof n) < 0)
        return; /* nothing was there */
}

static void wait_for_events(struct uplink *u)
{
    struct pollfd fds[2 + LISTENER_FDS];
    size_t n = 0, l;
    int store = recorder_fd(u->recorder);

    fds[n++] = (struct pollfd){.fd = u->wake_fd, .events = POLLIN};
    if (store >= 0)
        fds[n++] = (struct pollfd){.fd = store, .events = POLLIN};
    if (u->listener != NULL)
        listener_settle(u->listener);
    l = u->listener == NULL ? 0 : listener_poll(u->listener, fds + n);
    if (poll(fds, (nfds_t)(n + l),
             recorder_must_retry(u->recorder) ? RETRY_MS : TICK_MS) < 0)
        return; /* interrupted; look again */
    if (fds[0].revents != 0)
        drain_wake(u);
    if (u->listener != NULL)
        listener_serve(u->listener, fds + n, l);
}

static void *run(void *arg)
{
    struct uplink *u = arg;
    bool finishing, stop = false;

    while (!stop) {
        stop = take_in(u, &finishing);
        recorder_work(u->recorder, now_ns(CLOCK_MONOTONIC), finishing);
        give_back(u);
        if (!stop)
            wait_for_events(u);
    }
    return NULL;
}

/* ---- life */

static void on_post(void *ctx, struct post *p, struct span body)
{
    struct uplink *u = ctx;

    recorder_post(u->recorder, p, body, now_ns(CLOCK_REALTIME));
}

int uplink_open(const struct uplink_config *c, struct uplink **ret_u)
{
    struct uplink *u = calloc(1, sizeof *u);
    struct recorder_config rc = {.run_dir = c->run_dir,
                                 .tap = c->tap,
                                 .body_max = c->body_max,
                                 .alone = c->alone};
    int err;

    if (u == NULL)
        return -ENOMEM;
    u->config = *c;
    (void)pthread_mutex_init(&u->lock, NULL); /* cannot fail on Linux */
    (void)pthread_cond_init(&u->progress, NULL);
    u->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    err = u->wake_fd < 0 ? -errno : recorder_open(&rc, &u->recorder);
    if (err == 0 && c->listen_fd >= 0)
        err = listener_open(c->listen_fd, on_post, u, &u->listener);
    if (err != 0) {
        uplink_close(u);
        return err;
    }
    *ret_u = u;
    return 0;
}

int uplink_start(struct uplink *u)
{
    sigset_t all, old;
    int err = 0;

    if (u->config.connect_ms >= 0)
        err = recorder_connect(u->recorder, u->config.connect_ms);
    if (err != 0)
        return err;
    /* Signals are for the capturing thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    err = -pthread_create(&u->thread, NULL, run, u);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    u->running = err == 0;
    return err;
}

void uplink_close(struct uplink *u)
{
    if (u == NULL)
        return;
    if (u->running) {
        (void)pthread_mutex_lock(&u->lock);
        u->stopping = true;
        (void)pthread_mutex_unlock(&u->lock);
        wake(u);
        (void)pthread_join(u->thread, NULL);
    }
    while (u->notices_first != NULL) {
        struct queued_notice *q = u->notices_first;

        u->notices_first = q->next;
        free(q);
    }
    listener_close(u->listener);
    recorder_close(u->recorder);
    if (u->wake_fd >= 0)
        close(u->wake_fd);
    (void)pthread_cond_destroy(&u->progress);
    (void)pthread_mutex_destroy(&u->lock);
    free(u);
}
