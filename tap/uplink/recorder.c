/*
 * recorder.c - the queue of work on its way to the store. `ready` waits to be
 * sent, `sent` waits for its acknowledgement, both in order; when the
 * connection breaks, `sent` goes back in front of `ready`.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uplink/recorder.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "exchange/dissect.h"
#include "store/client.h"
#include "uplink/tally.h"
#include "uplink/work.h"

enum {
    WINDOW = 256,            /* puts on the way */
    WINDOW_BYTES = 32 << 20, /* and their bytes */
    RETRY_NS = 200000000,    /* after a failed connect */
    FULL_NS = 1000000000     /* after the store's disk was full */
};

static const int64_t feed_wait_ns = 2000000000; /* for missing messages */
static const int64_t tally_ns = 10000000000;    /* interval of own notices */

struct recorder {
    struct recorder_config config;
    struct store_client *store;
    struct dissector *dissector;
    struct feed *feed;
    struct tally tally;
    struct work_list ready, sent;
    size_t sent_bytes;
    struct slot *done;
    int64_t retry_ns, tally_at_ns, now_ns;
    bool moved, told_gone, turned_away;
    uint64_t tag;
    struct record record; /* scratch */
    struct dissection dissection;
};

/* ---- notices of our own */

static bool put_notice(void *ctx, const struct notice *n)
{
    recorder_notice(ctx, n);
    return true;
}

void recorder_notice(struct recorder *r, const struct notice *n)
{
    struct work *w = work_new(WORK_NOTICE);

    w->notice = *n;
    work_push(&r->ready, w);
}

static void notice_feed(struct recorder *r, struct span line, int64_t time_ns)
{
    struct notice n;

    notice_init(&n, NOTICE_UNPARSED, "feed", time_ns);
    n.bytes = line.n;
    notice_sample(&n, line);
    tally_add(&r->tally, &n);
}

static void notice_exchange(struct recorder *r, enum notice_kind kind,
                            const char *cause, const struct slot *s,
                            struct span sample)
{
    struct notice n;

    notice_init(&n, kind, cause,
                s->req.begun ? s->req.first_ns : s->resp.first_ns);
    n.to_ns = s->resp.begun ? s->resp.last_ns : s->req.last_ns;
    n.bytes = s->req.bytes + s->resp.bytes;
    n.stream = s->stream;
    (void)snprintf(n.client, sizeof n.client, "%s", s->client);
    (void)snprintf(n.server, sizeof n.server, "%s", s->server);
    (void)snprintf(n.object, sizeof n.object, "%s %s", s->client, s->server);
    notice_sample(&n, sample);
    tally_add(&r->tally, &n);
}

/* ---- what is over */

static void slot_over(struct recorder *r, struct slot *s)
{
    s->next = r->done;
    r->done = s;
}

static void name_feed(struct notice *n, struct span engine, struct span feed)
{
    (void)snprintf(n->object, sizeof n->object, "%.*s %.*s",
                   (int)(engine.n < 60 ? engine.n : 60), (const char *)engine.p,
                   (int)(feed.n < 60 ? feed.n : 60), (const char *)feed.p);
}

static void notice_step(struct recorder *r, const struct step_message *m)
{
    struct notice n;

    notice_init(&n, NOTICE_LOSS, "store", m->time_ns);
    name_feed(&n, m->step.engine, m->step.feed);
    tally_add(&r->tally, &n);
}

/* Durable, or refused for good. */
static void work_over(struct recorder *r, struct work *w, bool durable)
{
    r->moved = true;
    if (w->kind == WORK_STEP && !durable)
        notice_step(r, w->step);
    if (w->kind == WORK_EXCHANGE) {
        if (!durable)
            notice_exchange(r, NOTICE_LOSS, "store", w->slot, span_of(NULL, 0));
        slot_over(r, w->slot);
    } else if (w->step != NULL) {
        feed_message_over(w->step, durable);
    }
    free(w);
}

/* ---- batch feed */

static void on_step(void *ctx, struct step_message *m)
{
    struct recorder *r = ctx;

    m->parts = batch_step_parts(&m->step, span_str(r->config.tap));
    m->parts_left = m->parts;
    for (size_t part = 1; part <= m->parts; part++) {
        struct work *w = work_new(WORK_STEP);

        w->step = m;
        w->part = part;
        work_push(&r->ready, w);
    }
}

static void on_again(void *ctx, struct step_message *m)
{
    struct recorder *r = ctx;
    struct work *w = work_new(WORK_AGAIN);

    m->parts_left = 1;
    w->step = m;
    work_push(&r->ready, w);
}

static void on_missing(void *ctx, const struct feed_gap *g)
{
    struct recorder *r = ctx;
    struct notice n;

    notice_init(&n, NOTICE_LOSS, "feed_gap", g->from_ns);
    n.to_ns = g->to_ns;
    n.count = g->n;
    name_feed(&n, g->engine, g->feed);
    tally_add(&r->tally, &n);
}

static void on_bad(void *ctx, struct span line, int64_t time_ns,
                   const char *why)
{
    log_debug("batch feed: %s", why);
    notice_feed(ctx, line, time_ns);
}

void recorder_post(struct recorder *r, struct post *p, struct span body,
                   int64_t time_ns)
{
    feed_take(r->feed, p, body, time_ns);
}

/* ---- sending */

static int put(struct recorder *r, struct work *w, const char *kind,
               const struct payload *payloads, size_t n)
{
    struct put p = {.kind = kind,
                    .record = &r->record,
                    .payloads = payloads,
                    .n_payloads = n,
                    .again = w->again};

    w->bytes = r->record.n;
    for (size_t i = 0; i < n; i++)
        w->bytes += payloads[i].bytes.n;
    return store_send(r->store, &p, r->tag++);
}

static size_t add_payload(struct payload *list, size_t n, const char *name,
                          struct span bytes)
{
    if (bytes.n > 0)
        list[n++] = (struct payload){name, bytes};
    return n;
}

/* 1: it carried feed messages and is no exchange of its own. */
static int send_exchange(struct recorder *r, struct work *w)
{
    struct dissection *d = &r->dissection;
    struct payload list[6];
    size_t n = 0;

    dissector_read(r->dissector, w->slot, d);
    if (feed_is_post(d->x.method, d->x.target)) {
        if (w->slot->req.whole && w->slot->req.cause == NULL)
            feed_take(r->feed, NULL, d->req_body, w->slot->req.last_ns);
        else
            notice_feed(r, d->req_body, w->slot->req.last_ns);
        return 1;
    }
    if (d->not_understood != NULL && d->x.complete)
        notice_exchange(r, NOTICE_UNPARSED, "dialect", w->slot, d->req_body);
    d->x.tap = span_str(r->config.tap);
    d->x.source = span_str(w->slot->source);
    if (!exchange_record(&d->x, &r->record))
        return -EMSGSIZE;
    n = add_payload(list, n, "req", d->x.req.raw);
    n = add_payload(list, n, "req_map", d->x.req.map);
    n = add_payload(list, n, "req_body", d->x.req.body);
    n = add_payload(list, n, "resp", d->x.resp.raw);
    n = add_payload(list, n, "resp_map", d->x.resp.map);
    n = add_payload(list, n, "resp_body", d->x.resp.body);
    return put(r, w, "exchange", list, n);
}

static int send_notice(struct recorder *r, struct work *w)
{
    struct payload sample = {"sample",
                             span_of(w->notice.sample, w->notice.sample_n)};

    notice_record(&w->notice, span_str(r->config.tap), &r->record);
    return put(r, w, notice_record_kind(&w->notice), &sample,
               w->notice.sample_n > 0 ? 1 : 0);
}

static int send_step(struct recorder *r, struct work *w)
{
    struct payload message = {"message", span_of(w->step->text, w->step->n)};

    batch_step_record(&w->step->step, span_str(r->config.tap), w->part,
                      w->step->parts, &r->record);
    return put(r, w, "batch_step", &message, 1);
}

static void disconnect(struct recorder *r)
{
    store_close(r->store);
    r->store = NULL;
    r->retry_ns = r->now_ns + RETRY_NS;
    r->sent_bytes = 0;
    for (struct work *w = r->sent.first; w != NULL; w = w->next)
        w->again = true;
    work_prepend(&r->ready, &r->sent);
    if (!r->turned_away)
        log_warnx("the store is gone, records wait");
}

static int send_work(struct recorder *r, struct work *w)
{
    switch (w->kind) {
    case WORK_EXCHANGE:
        return send_exchange(r, w);
    case WORK_NOTICE:
        return send_notice(r, w);
    case WORK_STEP:
        return send_step(r, w);
    case WORK_AGAIN:
        break;
    }
    w->bytes = 0;
    return 0;
}

static void send_ready(struct recorder *r)
{
    while (r->store != NULL && r->ready.first != NULL &&
           store_unacked(r->store) < WINDOW && r->sent_bytes < WINDOW_BYTES) {
        struct work *w = work_pop(&r->ready);
        int rc = send_work(r, w);

        if (rc == 0) {
            work_push(&r->sent, w);
            r->sent_bytes += w->bytes;
        } else if (rc == 1) {
            slot_over(r, w->slot);
            r->moved = true;
            free(w);
        } else if (rc == -EMSGSIZE) {
            work_over(r, w, false);
        } else {
            work_push(&r->sent, w); /* the last of those to be sent again */
            r->turned_away = rc == -EACCES;
            disconnect(r);
        }
    }
}

/* What comes next was not sent, and is over with that before it. */
static void end_again(struct recorder *r, struct work_list *unsent)
{
    while (r->sent.first != NULL && r->sent.first->kind == WORK_AGAIN) {
        struct work *w = work_pop(&r->sent);

        if (unsent->first != NULL)
            work_push(unsent, w);
        else
            work_over(r, w, true);
    }
}

static void take_acks(struct recorder *r)
{
    struct work_list unsent = {NULL, NULL};
    struct put_ack ack;

    end_again(r, &unsent);
    while (r->store != NULL && r->sent.first != NULL) {
        int rc = store_next_ack(r->store, 0, &ack);
        struct work *w;

        if (rc == -EAGAIN)
            break;
        if (rc == -EPIPE || rc == -ENOMEM || rc == -EACCES) {
            r->turned_away = rc == -EACCES;
            disconnect(r);
            break;
        }
        w = work_pop(&r->sent);
        r->sent_bytes -= w->bytes;
        if (rc == -ENOSPC)
            work_push(&unsent, w);
        else
            work_over(r, w, rc == 0);
        end_again(r, &unsent);
    }
    if (unsent.first != NULL) {
        r->retry_ns = r->now_ns + FULL_NS;
        work_prepend(&r->ready, &unsent);
    }
}

static void connect_store(struct recorder *r)
{
    if (r->ready.first == NULL)
        return;
    if (store_connect(r->config.run_dir, "tap", 0, &r->store) == 0) {
        log_info("the store is there");
        r->told_gone = false;
        return;
    }
    if (!r->told_gone)
        log_warnx("no store at \"%s\", records wait", r->config.run_dir);
    r->told_gone = true;
    r->retry_ns = r->now_ns + RETRY_NS;
}

void recorder_work(struct recorder *r, int64_t monotonic_ns, bool finish)
{
    r->now_ns = monotonic_ns;
    if (finish)
        feed_flush(r->feed, monotonic_ns);
    else
        feed_tick(r->feed, monotonic_ns);
    if (finish || monotonic_ns >= r->tally_at_ns) {
        tally_flush(&r->tally);
        r->tally_at_ns = monotonic_ns + tally_ns;
    }
    take_acks(r);
    if (monotonic_ns < r->retry_ns || r->turned_away)
        return;
    if (r->store == NULL)
        connect_store(r);
    send_ready(r);
    take_acks(r);
}

/* ---- queue and state */

void recorder_exchange(struct recorder *r, struct slot *s)
{
    struct work *w = work_new(WORK_EXCHANGE);

    w->slot = s;
    work_push(&r->ready, w);
}

struct slot *recorder_take_done(struct recorder *r)
{
    struct slot *s = r->done;

    r->done = NULL;
    return s;
}

bool recorder_moved(struct recorder *r)
{
    bool moved = r->moved;

    r->moved = false;
    return moved;
}

bool recorder_idle(const struct recorder *r)
{
    return r->ready.first == NULL && r->sent.first == NULL;
}

bool recorder_must_retry(const struct recorder *r)
{
    return r->ready.first != NULL &&
           (r->store == NULL || r->now_ns < r->retry_ns);
}

int recorder_fd(const struct recorder *r)
{
    return r->store == NULL ? -1 : store_fd(r->store);
}

int recorder_open(const struct recorder_config *c, struct recorder **ret_r)
{
    struct recorder *r = calloc(1, sizeof *r);
    struct feed_handler h = {{on_step, on_again, on_missing, r}, on_bad};
    int err;

    if (r == NULL)
        return -ENOMEM;
    r->config = *c;
    tally_init(&r->tally, c->alone, put_notice, r);
    err = dissector_open(c->body_max, &r->dissector);
    if (err == 0)
        err = feed_open(feed_wait_ns, &h, &r->feed);
    if (err != 0) {
        recorder_close(r);
        return err;
    }
    *ret_r = r;
    return 0;
}

int recorder_connect(struct recorder *r, int wait_ms)
{
    return store_connect(r->config.run_dir, "tap", wait_ms, &r->store);
}

bool recorder_turned_away(const struct recorder *r)
{
    return r->turned_away;
}

void recorder_close(struct recorder *r)
{
    if (r == NULL)
        return;
    work_free_all(&r->sent);
    work_free_all(&r->ready);
    feed_close(r->feed);
    dissector_close(r->dissector);
    store_close(r->store);
    free(r);
}
