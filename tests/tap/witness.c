/*
 * witness.c - what came out of the tap's lower half, for tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "witness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/settings.h"

static void *on_open(void *ctx, const struct stream_info *info)
{
    struct witness *r = ctx;
    struct recorded *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->owner = r;
    s->info = *info;
    if ((r->n & (r->n + 1)) == 0) { /* room doubles */
        r->streams = realloc(r->streams, (2 * r->n + 2) * sizeof *r->streams);
        assert_non_null(r->streams);
    }
    r->streams[r->n++] = s;
    return s;
}

static struct recorded_side *side_of(struct recorded *s, enum side side)
{
    assert_false(s->ended);
    assert_false(s->side[side].closed);
    return &s->side[side];
}

static void on_data(void *user, enum side side, const struct stream_piece *p)
{
    struct recorded *s = user;
    struct recorded_side *d = side_of(s, side);

    assert_true(p->bytes.n > 0);
    assert_true(p->offset == d->next);
    s->owner->callbacks++;
    if (s->order[side] == 0)
        s->order[side] = s->owner->callbacks;
    if (d->n + p->bytes.n > d->room) {
        d->room = 2 * (d->n + p->bytes.n);
        d->bytes = realloc(d->bytes, d->room);
        assert_non_null(d->bytes);
    }
    memcpy(d->bytes + d->n, p->bytes.p, p->bytes.n);
    d->n += p->bytes.n;
    d->next += p->bytes.n;
    d->last_ns = p->time_ns;
}

static void on_gap(void *user, enum side side, const struct stream_gap *g)
{
    struct recorded *s = user;
    struct recorded_side *d = side_of(s, side);

    assert_true(g->n > 0);
    assert_true(g->offset == d->next);
    s->owner->callbacks++;
    d->next += g->n;
    d->gap_bytes += g->n;
    d->last_cause = g->cause;
    if (d->gaps > 0 && d->gaps <= RECORDED_GAPS && d->n > 0 &&
        d->gap[d->gaps - 1].at == d->n) {
        d->gap[d->gaps - 1].n += g->n; /* one hole, told in parts */
        return;
    }
    if (d->gaps < RECORDED_GAPS) {
        d->gap[d->gaps].at = d->n;
        d->gap[d->gaps].n = g->n;
    }
    d->gaps++;
}

static void on_conflict(void *user, enum side side,
                        const struct stream_conflict *c)
{
    struct recorded *s = user;

    assert_false(s->ended);
    assert_true(c->n > 0);
    s->side[side].conflicts++;
    s->side[side].conflict_bytes += c->n;
    s->side[side].conflict_at = c->offset;
}

static void on_half_end(void *user, enum side side, int64_t time_ns)
{
    (void)time_ns;
    side_of(user, side)->closed = true;
}

static void on_end(void *user, enum stream_end why, enum side by,
                   int64_t time_ns)
{
    struct recorded *s = user;

    (void)time_ns;
    assert_false(s->ended);
    s->ended = true;
    s->why = why;
    s->by = by;
}

static void on_prefetch(void *user, enum side side, int step)
{
    const struct recorded *s = user;

    assert_true(side == SIDE_CLIENT || side == SIDE_SERVER);
    assert_in_range(step, 0, PREFETCH_STEPS - 1);
    assert_false(s->ended);
}

void witness_init(struct witness *r)
{
    *r = (struct witness){.handler = {.open = on_open,
                                      .data = on_data,
                                      .gap = on_gap,
                                      .conflict = on_conflict,
                                      .half_end = on_half_end,
                                      .end = on_end,
                                      .prefetch = on_prefetch,
                                      .ctx = r}};
}

void witness_fini(struct witness *r)
{
    for (size_t i = 0; i < r->n; i++) {
        assert_true(r->streams[i]->ended);
        free(r->streams[i]->side[0].bytes);
        free(r->streams[i]->side[1].bytes);
        free(r->streams[i]);
    }
    free(r->streams);
}

struct net_config replay_config(void)
{
    struct settings *settings;
    struct net_config c;

    assert_int_equal(settings_load("/dev/null", stderr, &settings), 0);
    net_config_read(settings, &c);
    settings_close(settings);
    return c;
}

void assert_accounted(const struct net_counters *w,
                      const struct stream_counters *s)
{
    uint64_t frames = w->segments + w->joined + w->held_fragments;

    for (int i = 0; i < CAUSES; i++)
        frames += w->unparsed[i];
    assert_true(w->frames == frames);
    assert_true(w->segments == s->segments);
    assert_true(s->payload_bytes == s->delivered_bytes +
                                        s->retransmitted_bytes +
                                        s->refused_bytes + s->held_bytes);
    assert_true(s->refused_bytes == s->refused_window + s->refused_reset +
                                        s->refused_closed + s->refused_late +
                                        s->refused_pool + s->refused_checksum);
}

int replay_file(const char *backend, const char *path, struct replay *r)
{
    struct net_config config = replay_config();
    struct source_config sc = {
        .file = path, .snaplen = 262144, .idle_end_ns = 50000000};
    struct source *source;
    struct net *net;
    int rc;

    memset(r, 0, sizeof *r);
    witness_init(&r->rec);
    rc = source_open(backend, &sc, r->why, sizeof(r->why), &source);
    if (rc != 0)
        return rc;
    assert_int_equal(net_open(&config, &r->rec.handler, &net), 0);
    do {
        r->state = source_read(source, 64, net_frames, net);
        net_counters(net, &r->net);
        assert_accounted(&r->net, net_stream_counters(net));
    } while (r->state == SOURCE_MORE || r->state == SOURCE_IDLE);
    net_flush(net);
    net_counters(net, &r->net);
    r->stream = *net_stream_counters(net);
    assert_accounted(&r->net, &r->stream);
    assert_true(r->net.held_fragments == 0);
    assert_true(r->stream.held_bytes == 0);
    assert_true(r->stream.opened == r->stream.closed);
    source_stats(source, &r->source);
    assert_true(r->source.frames == r->net.frames);
    (void)snprintf(r->why, sizeof(r->why), "%s", source_why(source));
    source_close(source);
    net_close(net);
    return 0;
}

void replay_fini(struct replay *r)
{
    witness_fini(&r->rec);
}
