/*
 * capture.c - the capturing thread: from source to uplink.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/settings.h"
#include "traffic.h"

enum {
    FRAMES = 256,     /* between looks at the uplink */
    IDLE_MS = 100,    /* waiting for frames */
    STORE_MS = 60000, /* waiting for the store without any progress */
    FILL_PERCENT = 50 /* of the buffers, from which on files wait */
};

struct capture {
    struct uplink *uplink;
    struct conn_table *conns;
    struct net *net;
    struct tally tally;
    struct traffic_interval interval;
    const char *label;
    bool live;
    size_t queue_max;
    int64_t interval_ns, report_ns;
    uint64_t lost;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- what comes out of the connections */

static void reclaim(struct capture *c)
{
    struct slot *s;

    while ((s = uplink_returned(c->uplink)) != NULL)
        conn_recycle(c->conns, s);
}

static void lose(struct capture *c, struct slot *s)
{
    struct notice n;

    notice_init(&n, NOTICE_LOSS, "store",
                s->req.begun ? s->req.first_ns : s->resp.first_ns);
    n.to_ns = s->resp.begun ? s->resp.last_ns : s->req.last_ns;
    n.bytes = s->req.bytes + s->resp.bytes;
    (void)snprintf(n.object, sizeof n.object, "%s %s", s->client, s->server);
    tally_add(&c->tally, &n);
    c->lost++;
    conn_recycle(c->conns, s);
}

static void on_exchange(void *ctx, struct slot *s)
{
    struct capture *c = ctx;

    /* A file can wait, so that no pool runs dry. */
    if (!c->live) {
        (void)uplink_wait(c->uplink, c->queue_max / 2, STORE_MS);
        reclaim(c);
    }
    if (!uplink_exchange(c->uplink, s, c->label))
        lose(c, s);
}

static void on_stray(void *ctx, const struct conn_stray *s)
{
    struct capture *c = ctx;
    struct notice n;

    notice_init(&n, NOTICE_UNPARSED, s->cause, s->from_ns);
    n.to_ns = s->to_ns;
    n.count = s->again ? 0 : 1;
    n.bytes = s->bytes;
    n.stream = s->stream;
    (void)snprintf(n.client, sizeof n.client, "%s", s->client);
    (void)snprintf(n.server, sizeof n.server, "%s", s->server);
    notice_sample(&n, s->sample);
    tally_add(&c->tally, &n);
}

static void on_gap(void *ctx, const struct conn_gap *g)
{
    struct capture *c = ctx;
    struct notice n;

    notice_init(&n, NOTICE_LOSS, "gap", g->gap->from_ns);
    n.to_ns = g->gap->to_ns;
    n.bytes = g->gap->n;
    (void)snprintf(n.object, sizeof n.object, "%s %s", g->client, g->server);
    tally_add(&c->tally, &n);
}

static bool put_notice(void *ctx, const struct notice *n)
{
    struct capture *c = ctx;

    return uplink_notice(c->uplink, n);
}

/* ---- the loop */

static void report(struct capture *c, struct source *src, int64_t to_ns)
{
    struct totals now;

    conn_tell_strays(c->conns);
    totals_take(&now, src, c->net, c->conns);
    traffic_unparsed(c->net, &c->tally);
    traffic_report(&c->interval, &now, c->label, to_ns, &c->tally);
    tally_flush(&c->tally);
}

static void first_frame(void *ctx, const struct frame *f, size_t n)
{
    struct capture *c = ctx;

    traffic_new_source(&c->interval, f->time_ns);
    net_frames(c->net, f, n);
}

static int64_t last_frame_ns(const struct capture *c)
{
    struct net_counters n;

    net_counters(c->net, &n);
    return n.to_ns;
}

static void wait_for_frames(struct capture *c, struct source *src)
{
    struct pollfd p = {.fd = source_fd(src), .events = POLLIN};

    if (p.fd < 0)
        (void)poll(NULL, 0, 1); /* a source that has to be asked */
    else
        (void)poll(&p, 1, IDLE_MS); /* a signal may end it */
    if (c->live)
        net_tick(c->net, clock_ns(CLOCK_REALTIME));
}

static void after_frames(struct capture *c, struct source *src)
{
    int64_t now_ns;

    reclaim(c);
    if (!c->live) {
        if (conn_fill(c->conns) >= FILL_PERCENT &&
            uplink_wait(c->uplink, 0, STORE_MS))
            reclaim(c);
        return;
    }
    now_ns = clock_ns(CLOCK_MONOTONIC);
    if (now_ns - c->report_ns >= c->interval_ns) {
        report(c, src, clock_ns(CLOCK_REALTIME));
        c->report_ns = now_ns;
    }
}

void capture_begin(struct capture *c, struct source *src)
{
    int64_t now_ns = clock_ns(CLOCK_REALTIME);

    c->label = source_label(src);
    traffic_new_source(&c->interval, now_ns);
    report(c, src, now_ns);
}

enum source_state capture_run(struct capture *c, struct source *src,
                              const volatile sig_atomic_t *stop)
{
    enum source_state st = SOURCE_MORE;

    c->label = source_label(src);
    c->report_ns = clock_ns(CLOCK_MONOTONIC);
    if (!c->live) { /* the times are the file's, if it has any */
        traffic_new_source(&c->interval, clock_ns(CLOCK_REALTIME));
        st = source_read(src, 1, first_frame, c);
    }
    while (!*stop && !uplink_turned_away(c->uplink) &&
           (st == SOURCE_MORE || st == SOURCE_IDLE)) {
        st = source_read(src, FRAMES, net_frames, c->net);
        if (st == SOURCE_IDLE)
            wait_for_frames(c, src);
        after_frames(c, src);
    }
    net_flush(c->net);
    report(c, src, c->live ? clock_ns(CLOCK_REALTIME) : last_frame_ns(c));
    return st;
}

/* ---- life */

static int open_tables(const struct settings *s, struct capture *c)
{
    struct conn_handler h = {on_exchange, on_stray, on_gap, c};
    struct net_config nc;
    struct conn_config cc;
    struct stream_handler sh;
    int err;

    net_config_read(s, &nc);
    cc = (struct conn_config){
        .connections = nc.stream.streams,
        .exchanges = (size_t)settings_int(s, "tap.exchanges"),
        .buffer_bytes = (size_t)settings_int(s, "tap.messages_mib") << 20,
        .message_max = (size_t)settings_int(s, "tap.message_max_mib") << 20};
    c->queue_max = cc.exchanges;
    err = conn_open(&cc, &h, &c->conns);
    if (err != 0)
        return err;
    conn_stream_handler(c->conns, &sh);
    return net_open(&nc, &sh, &c->net);
}

int capture_open(const struct settings *s, bool live, struct uplink *u,
                 struct capture **ret_c)
{
    struct capture *c = calloc(1, sizeof *c);
    int err;

    if (c == NULL)
        return -ENOMEM;
    c->uplink = u;
    c->live = live;
    c->interval_ns = settings_int(s, "tap.interval_s") * 1000000000;
    tally_init(&c->tally, (unsigned)settings_int(s, "tap.samples"), put_notice,
               c);
    err = open_tables(s, c);
    if (err != 0) {
        capture_close(c);
        return err;
    }
    *ret_c = c;
    return 0;
}

uint64_t capture_lost(const struct capture *c)
{
    return c->lost;
}

void capture_close(struct capture *c)
{
    if (c == NULL)
        return;
    if (c->net != NULL)
        net_close(c->net);
    conn_close(c->conns);
    free(c);
}
