/*
 * feed.c - the queue between the capturing thread and the recording one, and
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
    NOTES_MAX = 4096, /* queued */
    TICK_MS = 500,
    RETRY_MS = 200 /* between attempts to connect */
};

struct queued_note {
    struct queued_note *next;
    struct note note;
};

struct feed {
    struct feed_config config;
    struct recorder *recorder; /* of the thread, once it runs */
    struct listener *listener;
    pthread_t thread;
    bool running;
    int wake_fd;

    pthread_mutex_t lock;
    pthread_cond_t progress;
    /* Guarded by lock. */
    struct slot *in_first, *in_last;
    struct queued_note *notes_first, *notes_last;
    size_t n_notes;
    struct slot *back; /* done with */
    size_t on_way;     /* exchanges taken and not yet back */
    bool busy;         /* the recorder has something under way */
    bool finishing, stopping;
    uint64_t steps; /* of progress */
    struct feed_counters count;

    atomic_bool has_back, turned_away;
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wake(struct feed *f)
{
    uint64_t one = 1;

    /* It can only fail when the counter is full, and then it is awake. */
    if (write(f->wake_fd, &one, sizeof one) < 0)
        return;
}

/* ---- the capturing thread's side */

bool feed_exchange(struct feed *f, struct slot *s, const char *source)
{
    bool first = false, room;

    (void)pthread_mutex_lock(&f->lock);
    room = f->on_way < f->config.queue_max;
    if (room) {
        s->source = source;
        s->next = NULL;
        first = f->in_first == NULL;
        *(first ? &f->in_first : &f->in_last->next) = s;
        f->in_last = s;
        f->on_way++;
    }
    (void)pthread_mutex_unlock(&f->lock);
    if (first)
        wake(f);
    return room;
}

bool feed_note(struct feed *f, const struct note *n)
{
    struct queued_note *q = malloc(sizeof *q);
    bool room = false;

    if (q == NULL)
        return false;
    q->next = NULL;
    q->note = *n;
    (void)pthread_mutex_lock(&f->lock);
    if (f->n_notes < NOTES_MAX) {
        *(f->notes_first == NULL ? &f->notes_first : &f->notes_last->next) = q;
        f->notes_last = q;
        f->n_notes++;
        room = true;
    }
    (void)pthread_mutex_unlock(&f->lock);
    if (room)
        wake(f);
    else
        free(q);
    return room;
}

struct slot *feed_returned(struct feed *f)
{
    struct slot *s;

    if (!atomic_load_explicit(&f->has_back, memory_order_relaxed))
        return NULL;
    (void)pthread_mutex_lock(&f->lock);
    s = f->back;
    if (s != NULL)
        f->back = s->next;
    atomic_store_explicit(&f->has_back, f->back != NULL, memory_order_relaxed);
    (void)pthread_mutex_unlock(&f->lock);
    return s;
}

static bool idle(const struct feed *f)
{
    return f->on_way == 0 && f->n_notes == 0 && !f->busy;
}

bool feed_turned_away(const struct feed *f)
{
    return atomic_load_explicit(&f->turned_away, memory_order_relaxed);
}

/* Waits for done(f, n), as long as something moves. */
static bool wait_until(struct feed *f, size_t n, bool all, int timeout_ms)
{
    bool done;

    (void)pthread_mutex_lock(&f->lock);
    for (;;) {
        uint64_t steps = f->steps;
        struct timespec until;
        int64_t at = now_ns(CLOCK_REALTIME) + (int64_t)timeout_ms * 1000000;
        int rc = 0;

        until.tv_sec = at / 1000000000;
        until.tv_nsec = at % 1000000000;
        while (rc == 0 && !(done = all ? idle(f) : f->on_way <= n) &&
               steps == f->steps && !feed_turned_away(f))
            rc = pthread_cond_timedwait(&f->progress, &f->lock, &until);
        if (done || rc != 0 || feed_turned_away(f))
            break;
    }
    (void)pthread_mutex_unlock(&f->lock);
    return done;
}

bool feed_wait(struct feed *f, size_t n, int timeout_ms)
{
    return wait_until(f, n, false, timeout_ms);
}

bool feed_finish(struct feed *f, int timeout_ms)
{
    (void)pthread_mutex_lock(&f->lock);
    f->finishing = true;
    f->busy = true; /* until the thread has looked */
    (void)pthread_mutex_unlock(&f->lock);
    wake(f);
    return wait_until(f, 0, true, timeout_ms);
}

void feed_counters(struct feed *f, struct feed_counters *ret_c)
{
    (void)pthread_mutex_lock(&f->lock);
    *ret_c = f->count;
    (void)pthread_mutex_unlock(&f->lock);
}

/* ---- the recording thread */

/* Takes what has been queued; returns whether the end was asked for. */
static bool take_in(struct feed *f, bool *ret_finishing)
{
    struct slot *s;
    struct queued_note *q;
    bool stop;

    (void)pthread_mutex_lock(&f->lock);
    s = f->in_first;
    q = f->notes_first;
    f->in_first = f->in_last = NULL;
    f->notes_first = f->notes_last = NULL;
    f->n_notes = 0;
    if (s != NULL || q != NULL)
        f->busy = true;
    *ret_finishing = f->finishing;
    stop = f->stopping;
    (void)pthread_mutex_unlock(&f->lock);
    while (s != NULL) {
        struct slot *next = s->next;

        recorder_exchange(f->recorder, s);
        s = next;
    }
    while (q != NULL) {
        struct queued_note *next = q->next;

        recorder_note(f->recorder, &q->note);
        free(q);
        q = next;
    }
    return stop;
}

/* Gives back what is durable. */
static void give_back(struct feed *f)
{
    struct slot *s = recorder_take_done(f->recorder);
    bool moved = recorder_moved(f->recorder);

    (void)pthread_mutex_lock(&f->lock);
    while (s != NULL) {
        struct slot *next = s->next;

        s->next = f->back;
        f->back = s;
        f->on_way--;
        s = next;
        moved = true;
    }
    if (f->back != NULL)
        atomic_store_explicit(&f->has_back, true, memory_order_relaxed);
    f->busy =
        f->in_first != NULL || f->n_notes > 0 || !recorder_idle(f->recorder);
    if (!f->busy && f->finishing)
        f->finishing = false;
    recorder_counters(f->recorder, &f->count);
    if (moved)
        f->steps++;
    if (recorder_turned_away(f->recorder)) {
        atomic_store_explicit(&f->turned_away, true, memory_order_relaxed);
        moved = true;
    }
    if (moved || !f->busy)
        (void)pthread_cond_broadcast(&f->progress);
    (void)pthread_mutex_unlock(&f->lock);
}

static void drain_wake(struct feed *f)
{
    uint64_t n;

    if (read(f->wake_fd, &n, sizeof n) < 0)
        return; /* nothing was there */
}

static void wait_for_events(struct feed *f)
{
    struct pollfd fds[2 + LISTEN_FDS];
    size_t n = 0, l;
    int store = recorder_fd(f->recorder);

    fds[n++] = (struct pollfd){.fd = f->wake_fd, .events = POLLIN};
    if (store >= 0)
        fds[n++] = (struct pollfd){.fd = store, .events = POLLIN};
    if (f->listener != NULL)
        listener_settle(f->listener);
    l = f->listener == NULL ? 0 : listener_poll(f->listener, fds + n);
    if (poll(fds, (nfds_t)(n + l),
             recorder_must_retry(f->recorder) ? RETRY_MS : TICK_MS) < 0)
        return; /* interrupted; look again */
    if (fds[0].revents != 0)
        drain_wake(f);
    if (f->listener != NULL)
        listener_serve(f->listener, fds + n, l);
}

static void *run(void *arg)
{
    struct feed *f = arg;
    bool finishing, stop = false;

    while (!stop) {
        stop = take_in(f, &finishing);
        recorder_work(f->recorder, now_ns(CLOCK_MONOTONIC), finishing);
        give_back(f);
        if (!stop)
            wait_for_events(f);
    }
    return NULL;
}

/* ---- life */

static void on_post(void *ctx, struct post *p, struct span body)
{
    struct feed *f = ctx;

    recorder_post(f->recorder, p, body, now_ns(CLOCK_REALTIME));
}

int feed_open(const struct feed_config *c, struct feed **ret_f)
{
    struct feed *f = calloc(1, sizeof *f);
    struct recorder_config rc = {.run_dir = c->run_dir,
                                 .tap = c->tap,
                                 .body_max = c->body_max,
                                 .alone = c->alone};
    int err;

    if (f == NULL)
        return -ENOMEM;
    f->config = *c;
    (void)pthread_mutex_init(&f->lock, NULL); /* cannot fail on Linux */
    (void)pthread_cond_init(&f->progress, NULL);
    f->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    err = f->wake_fd < 0 ? -errno : recorder_open(&rc, &f->recorder);
    if (err == 0 && c->listen_fd >= 0)
        err = listener_open(c->listen_fd, on_post, f, &f->listener);
    if (err != 0) {
        feed_close(f);
        return err;
    }
    *ret_f = f;
    return 0;
}

int feed_start(struct feed *f)
{
    sigset_t all, old;
    int err = 0;

    if (f->config.connect_ms >= 0)
        err = recorder_connect(f->recorder, f->config.connect_ms);
    if (err != 0)
        return err;
    /* Signals are for the capturing thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    err = -pthread_create(&f->thread, NULL, run, f);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    f->running = err == 0;
    return err;
}

void feed_close(struct feed *f)
{
    if (f == NULL)
        return;
    if (f->running) {
        (void)pthread_mutex_lock(&f->lock);
        f->stopping = true;
        (void)pthread_mutex_unlock(&f->lock);
        wake(f);
        (void)pthread_join(f->thread, NULL);
    }
    while (f->notes_first != NULL) {
        struct queued_note *q = f->notes_first;

        f->notes_first = q->next;
        free(q);
    }
    listener_close(f->listener);
    recorder_close(f->recorder);
    if (f->wake_fd >= 0)
        close(f->wake_fd);
    (void)pthread_cond_destroy(&f->progress);
    (void)pthread_mutex_destroy(&f->lock);
    free(f);
}
