/*
 * talk.c - drives the callbacks of conn.h and writes down what comes out.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "talk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/exchange.h"

static void put(struct talk *t, const char *text, size_t n)
{
    if (n > sizeof t->text - 1 - t->n)
        n = sizeof t->text - 1 - t->n;
    memcpy(t->text + t->n, text, n);
    t->n += n;
    t->text[t->n] = '\0';
}

static void put_span(struct talk *t, struct span s)
{
    put(t, (const char *)s.p, s.n);
}

static void put_body(struct talk *t, const struct message *m)
{
    uint8_t *scratch = malloc(message_kept(m) + 1);
    struct exchange_side side = {.raw = message_bytes(m, scratch),
                                 .map = buffer_span(&m->map)};
    struct span body;
    uint8_t *owned;
    int err = exchange_body(&side, &body, &owned);

    assert(scratch != NULL && err == 0);
    put(t, " [", 2);
    put_span(t, body);
    put(t, "]", 1);
    free(owned);
    free(scratch);
}

static void heard(void *ctx, struct slot *s)
{
    struct talk *t = ctx;
    const char *cause = "ok";
    char number[32];
    int n;

    (void)slot_complete(s, &cause);
    put_span(t, s->has_req ? slot_method(s) : span_str("-"));
    put(t, " ", 1);
    put_span(t, s->has_req ? slot_target(s) : span_str("-"));
    n = snprintf(number, sizeof number, " %u ",
                 s->resp.line_ok ? s->resp.head.status : 0);
    put(t, number, (size_t)n);
    put_span(t, span_str(cause));
    put_body(t, &s->req);
    put_body(t, &s->resp);
    put(t, "\n", 1);
    if (t->n_held < t->kept)
        t->held[t->n_held++] = s;
    else
        conn_recycle(t->table, s);
}

static void stray(void *ctx, const struct conn_stray *s)
{
    struct talk *t = ctx;
    char line[96];
    int n = snprintf(line, sizeof line, "stray %s %llu\n", s->cause,
                     (unsigned long long)s->bytes);

    put(t, line, (size_t)n);
}

static void gap(void *ctx, const struct conn_gap *g)
{
    (void)ctx;
    assert(g->gap->n > 0);
}

void talk_open(struct talk *t, size_t max)
{
    struct conn_config c = {.connections = 4,
                            .exchanges = 64,
                            .buffer_bytes = 4 << 20,
                            .message_max = max != 0 ? max : 64 << 10};
    struct conn_handler h = {heard, stray, gap, t};
    int err;

    memset(t, 0, sizeof *t);
    err = conn_open(&c, &h, &t->table);
    assert(err == 0);
    conn_stream_handler(t->table, &t->h);
    t->now_ns = 1000;
    talk_connect(t, false);
}

void talk_close(struct talk *t)
{
    struct conn_counters c;

    talk_end(t, END_CAPTURE, SIDE_CLIENT);
    for (size_t i = 0; i < t->n_held; i++)
        conn_recycle(t->table, t->held[i]);
    conn_counters(t->table, &c);
    assert(c.attributed_bytes + c.stray_bytes == t->said);
    assert(conn_fill(t->table) == 0);
    conn_close(t->table);
}

void talk_connect(struct talk *t, bool mid)
{
    talk_end(t, END_CAPTURE, SIDE_CLIENT);
    t->info = (struct stream_info){.addr = {"10.0.0.1:1000", "10.0.0.2:80"},
                                   .client_known = !mid,
                                   .start_seen = {!mid, !mid},
                                   .time_ns = t->now_ns};
    t->offset[0] = t->offset[1] = 0;
}

static void *user(struct talk *t)
{
    if (t->user == NULL)
        t->user = t->h.open(t->h.ctx, &t->info);
    return t->user;
}

void talk_bytes(struct talk *t, enum side side, struct span bytes)
{
    struct stream_piece p = {bytes, t->offset[side], t->now_ns++};

    if (bytes.n == 0)
        return;
    t->offset[side] += bytes.n;
    t->said += bytes.n;
    t->h.data(user(t), side, &p);
}

void talk_say(struct talk *t, enum side side, const char *text)
{
    talk_bytes(t, side, span_str(text));
}

void talk_lose(struct talk *t, enum side side, uint64_t n)
{
    struct stream_gap g = {t->offset[side], n, GAP_ACKED, t->now_ns, t->now_ns};

    t->offset[side] += n;
    t->h.gap(user(t), side, &g);
}

void talk_fin(struct talk *t, enum side side)
{
    if (t->user != NULL)
        t->h.half_end(t->user, side, t->now_ns);
}

void talk_end(struct talk *t, enum stream_end why, enum side by)
{
    if (t->user != NULL)
        t->h.end(t->user, why, by, t->now_ns);
    t->user = NULL;
}
