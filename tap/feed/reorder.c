/*
 * reorder.c - a short queue for each feed: engine and the random text of the
 * emitter's start.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/reorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEEDS = 64,        /* at once; the one silent longest is forgotten */
    WAITING_MAX = 256, /* messages of one feed that wait */
    RECENT = 8192      /* numbers of which the digest is remembered: more than
                          one POST of an emitter carries, and waits */
};

struct recent {
    uint64_t seq_plus_1; /* 0: none */
    uint8_t digest[8];
};

struct feed_queue {
    char engine[BATCH_TEXT_MAX], feed[BATCH_TEXT_MAX];
    size_t engine_n, feed_n;      /* engine_n 0: unused */
    uint64_t next;                /* number expected */
    int64_t last_ns;              /* of the message before */
    struct step_message *waiting; /* by number, lowest first */
    size_t n_waiting;
    struct recent recent[RECENT];
};

struct reorder {
    struct reorder_handler h;
    int64_t wait_ns;
    struct feed_queue feeds[FEEDS];
};

void step_message_free(struct step_message *m)
{
    if (m == NULL)
        return;
    batch_step_free(&m->step);
    free(m);
}

int reorder_open(int64_t wait_ns, const struct reorder_handler *h,
                 struct reorder **ret_o)
{
    struct reorder *o = calloc(1, sizeof *o);

    if (o == NULL)
        return -ENOMEM;
    o->h = *h;
    o->wait_ns = wait_ns;
    *ret_o = o;
    return 0;
}

void reorder_close(struct reorder *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < FEEDS; i++) {
        while (o->feeds[i].waiting != NULL) {
            struct step_message *m = o->feeds[i].waiting;

            o->feeds[i].waiting = m->next;
            step_message_free(m);
        }
    }
    free(o);
}

static bool is_feed(const struct feed_queue *f, const struct batch_step *s)
{
    return f->engine_n != 0 &&
           span_eq(span_of(f->engine, f->engine_n), s->engine) &&
           span_eq(span_of(f->feed, f->feed_n), s->feed);
}

static void give(struct reorder *o, struct feed_queue *f,
                 struct step_message *m)
{
    struct recent *r = &f->recent[m->step.seq % RECENT];

    r->seq_plus_1 = m->step.seq + 1;
    memcpy(r->digest, m->digest, sizeof r->digest);
    f->last_ns = m->time_ns;
    o->h.step(o->h.ctx, m);
}

static bool seen(const struct feed_queue *f, const struct step_message *m)
{
    const struct recent *r = &f->recent[m->step.seq % RECENT];

    return r->seq_plus_1 == m->step.seq + 1 &&
           memcmp(r->digest, m->digest, sizeof r->digest) == 0;
}

/* The lowest waiting message and those that follow it without a hole. */
static void release(struct reorder *o, struct feed_queue *f)
{
    while (f->waiting != NULL && f->waiting->step.seq <= f->next) {
        struct step_message *m = f->waiting;

        f->waiting = m->next;
        f->n_waiting--;
        if (m->step.seq == f->next)
            f->next++;
        else if (seen(f, m)) {
            o->h.again(o->h.ctx, m);
            continue;
        }
        give(o, f, m); /* perhaps another one of the same number */
    }
}

/* What the lowest waiting message waits for will not come. */
static void give_up(struct reorder *o, struct feed_queue *f)
{
    const struct step_message *m = f->waiting;
    struct feed_gap gap = {.engine = span_of(f->engine, f->engine_n),
                           .feed = span_of(f->feed, f->feed_n),
                           .n = m->step.seq - f->next,
                           .from_ns = f->last_ns != 0 ? f->last_ns : m->time_ns,
                           .to_ns = m->time_ns};

    o->h.missing(o->h.ctx, &gap);
    f->next = m->step.seq;
    release(o, f);
}

static void flush(struct reorder *o, struct feed_queue *f)
{
    while (f->waiting != NULL)
        give_up(o, f);
}

static struct feed_queue *feed_of(struct reorder *o, const struct batch_step *s)
{
    struct feed_queue *f = &o->feeds[0];

    for (size_t i = 0; i < FEEDS; i++)
        if (is_feed(&o->feeds[i], s))
            return &o->feeds[i];
    for (size_t i = 1; i < FEEDS && f->engine_n != 0; i++)
        if (o->feeds[i].engine_n == 0 || o->feeds[i].last_ns < f->last_ns)
            f = &o->feeds[i];
    flush(o, f);
    memset(f, 0, sizeof *f);
    memcpy(f->engine, s->engine.p, s->engine.n);
    memcpy(f->feed, s->feed.p, s->feed.n);
    f->engine_n = s->engine.n;
    f->feed_n = s->feed.n;
    return f;
}

/* Into the waiting queue at its place. */
static void insert(struct feed_queue *f, struct step_message *m)
{
    struct step_message **at = &f->waiting;

    while (*at != NULL && (*at)->step.seq <= m->step.seq)
        at = &(*at)->next;
    m->next = *at;
    *at = m;
    f->n_waiting++;
}

void reorder_add(struct reorder *o, struct step_message *m)
{
    struct feed_queue *f = feed_of(o, &m->step);

    if (m->step.seq < f->next) {
        if (seen(f, m))
            o->h.again(o->h.ctx, m);
        else
            give(o, f, m); /* after it was given up; or another one */
        return;
    }
    insert(f, m);
    release(o, f);
    while (f->n_waiting > WAITING_MAX)
        give_up(o, f);
}

void reorder_tick(struct reorder *o, int64_t now_ns)
{
    for (size_t i = 0; i < FEEDS; i++) {
        struct feed_queue *f = &o->feeds[i];

        while (f->waiting != NULL &&
               f->waiting->arrived_ns <= now_ns - o->wait_ns)
            give_up(o, f);
    }
}

void reorder_flush(struct reorder *o)
{
    for (size_t i = 0; i < FEEDS; i++)
        flush(o, &o->feeds[i]);
}
