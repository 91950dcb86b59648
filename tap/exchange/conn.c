/*
 * conn.c - what happens on a connection, told to its two halves and to its
 * queue of exchanges.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exchange/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool_memory.h"
#include "exchange/pair.h"
#include "http1/half.h"

struct conn {
    struct conn_table *table;
    struct half half[SIDES];
    struct slot *open[SIDES]; /* the slot that half[i].now lies in */
    struct pair queue;
    bool closed_first; /* the requests' side closed before the other */
    bool used;
    uint64_t lost_n; /* of the gap being told */
    struct stream_info info;
    struct conn *next; /* free list */
};

struct conn_table {
    struct half_pool pool; /* first: tell_stray finds the table by it */
    struct conn_handler handler;
    struct conn *all; /* as slot_pool: used from the front */
    size_t n, used;
    struct conn *free;
    struct slot_pool slots;
    struct conn_counters count;
};

static enum side other(enum side s)
{
    return s == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT;
}

/* The side that sends requests: as its messages tell, else as the stream. */
static enum side client_side(const struct conn *c)
{
    return c->half[SIDE_CLIENT].role == HALF_RESPONSES ||
                   c->half[SIDE_SERVER].role == HALF_REQUESTS
               ? SIDE_SERVER
               : SIDE_CLIENT;
}

static void tell_stray(const struct half *h)
{
    const struct conn *c = h->owner;
    enum side client = client_side(c);
    struct conn_stray s = {.cause = h->stray.cause,
                           .client = c->info.addr[client],
                           .server = c->info.addr[other(client)],
                           .stream = c->info.number,
                           .bytes = h->stray.bytes,
                           .again = h->stray.told,
                           .from_ns = h->stray.from_ns,
                           .to_ns = h->stray.to_ns,
                           .sample = buffer_span(&h->stray.sample)};

    c->table->handler.stray(c->table->handler.ctx, &s);
}

/* ---- slots */

static void finish(struct conn *c, struct slot *s)
{
    struct conn_table *t = c->table;
    enum side client = client_side(c);

    s->stream = c->info.number;
    memcpy(s->client, c->info.addr[client], sizeof s->client);
    memcpy(s->server, c->info.addr[other(client)], sizeof s->server);
    t->pool.attributed_bytes += s->req.bytes + s->resp.bytes;
    t->count.exchanges++;
    t->handler.exchange(t->handler.ctx, s);
}

static void finish_done(struct conn *c)
{
    struct slot *s;

    while ((s = pair_take_done(&c->queue)) != NULL)
        finish(c, s);
}

/* The message of this half is over, well or not. */
static void message_over(struct conn *c, enum side side)
{
    struct slot *s = c->open[side];

    half_detach(&c->half[side]);
    c->open[side] = NULL;
    if (s == NULL)
        return;
    if (side == client_side(c))
        s->req_done = true;
    else
        s->resp_done = true;
}

/* A request is answered before its head has ended: it is the one. */
static void attach_early(struct conn *c, enum side side)
{
    struct half *h = &c->half[side];
    struct message *m = h->now;
    struct slot *s;

    if (m != &h->first || !m->line_ok || h->lost)
        return;
    s = pair_request(&c->queue, &c->table->slots);
    if (s == NULL)
        return;
    head_parse(buffer_span(&m->raw), HEAD_REQUEST, &m->head);
    half_attach(h, &s->req);
    c->open[side] = s;
}

/* Moves the message that just became known into its slot. */
static bool attach(struct conn *c, enum side side)
{
    struct half *h = &c->half[side];
    struct slot_pool *pool = &c->table->slots;
    bool request = h->role == HALF_REQUESTS;
    struct slot *s = c->open[side];

    if (s != NULL)
        return true; /* after an interim answer, or an early one */
    c->half[other(side)].role =
        (uint8_t)(request ? HALF_RESPONSES : HALF_REQUESTS);
    if (!request)
        attach_early(c, other(side));
    if (request && c->half[other(side)].lost)
        pair_answers_lost(&c->queue, 0); /* what it says is not understood */
    s = request ? pair_request(&c->queue, pool) : pair_answer(&c->queue, pool);
    if (s == NULL)
        return false;
    if (!request && !s->has_req && c->queue.next_index == 1 &&
        !c->info.start_seen[other(side)])
        s->cause = "mid_stream"; /* asked before the capture began */
    half_attach(h, request ? &s->req : &s->resp);
    c->open[side] = s;
    return true;
}

/* No slot: the message's bytes are let go, its end is not looked for. */
static void drop_message(struct conn *c, enum side side)
{
    struct half *h = &c->half[side];

    c->table->pool.attributed_bytes += h->now->bytes;
    c->table->count.overflow_bytes += h->now->bytes;
    message_release(&c->table->pool.messages, h->now);
    half_detach(h);
    half_lose(h);
}

/* Framing is lost on this side: whole messages may be hidden. */
static void tell_queue_lost(struct conn *c, enum side side)
{
    if (side == client_side(c))
        pair_requests_lost(&c->queue, &c->table->slots, c->lost_n);
    else
        pair_answers_lost(&c->queue, c->lost_n);
}

/* ---- events of a half */

static void on_lost(struct conn *c, enum side side)
{
    struct half *h = &c->half[side];
    struct message *m = h->now;

    if (m != NULL && c->open[side] == NULL) {
        /* Cut off in its head: the start line still says what it was. */
        head_parse(span_of(m->raw.p + m->head_at, m->raw.n - m->head_at),
                   h->role == HALF_REQUESTS ? HEAD_REQUEST : HEAD_RESPONSE,
                   &m->head);
        if (!attach(c, side))
            drop_message(c, side);
    }
    if (h->now != NULL && h->now->gap_bytes > 0)
        c->lost_n = 0; /* counted with the message */
    message_over(c, side);
    tell_queue_lost(c, side);
    finish_done(c);
}

static void on_end(struct conn *c, enum side side)
{
    message_over(c, side);
    finish_done(c);
}

static bool tunnel(const struct slot *s)
{
    return s->resp.head.status == 101 ||
           (s->resp.head.status / 100 == 2 &&
            span_eq_str(slot_method(s), "CONNECT"));
}

/* From here on this side is no HTTP; a request body still under way, which
 * such an answer should not meet, stays incomplete. */
static void turn_tunnel(struct conn *c, enum side side)
{
    if (c->open[side] != NULL) {
        message_fault(c->half[side].now, "framing");
        on_lost(c, side);
    }
    half_turn_foreign(&c->table->pool, &c->half[side], "upgrade");
}

static void on_answer_head(struct conn *c, enum side side)
{
    struct half *h = &c->half[side];
    struct slot *s = c->open[side];
    const struct head *head = &h->now->head;
    bool over;

    if (head->status < 200 && head->status != 101) {
        half_interim(h);
        return;
    }
    over = half_body(h, head_response_framing(head, slot_method(s)));
    if (head->hopeless) {
        half_lose(h);
        on_lost(c, side);
    } else if (tunnel(s)) {
        on_end(c, side);
        turn_tunnel(c, other(side));
        turn_tunnel(c, side);
    } else if (over) {
        on_end(c, side);
    }
}

static void on_head(struct conn *c, enum side side)
{
    struct half *h = &c->half[side];

    if (!attach(c, side)) {
        drop_message(c, side);
        tell_queue_lost(c, side);
        return;
    }
    if (h->role == HALF_RESPONSES) {
        on_answer_head(c, side);
    } else if (h->now->head.hopeless) {
        message_fault(h->now, "framing");
        half_lose(h);
        on_lost(c, side);
    } else {
        bool broken = h->now->head.broken;
        bool over = half_body(h, h->now->head.framing);

        if (over)
            on_end(c, side);
        if (broken) /* the server may see its end elsewhere */
            pair_requests_lost(&c->queue, &c->table->slots, 0);
    }
}

static void on_event(struct conn *c, enum side side, enum half_event ev)
{
    switch (ev) {
    case HALF_MORE:
        break;
    case HALF_HEAD:
        on_head(c, side);
        break;
    case HALF_END:
        on_end(c, side);
        break;
    case HALF_LOST:
        on_lost(c, side);
        break;
    }
}

/* HTTP/2 and TLS are spoken by both sides or none. */
static void share_foreign(struct conn *c, enum side side)
{
    const char *cause = c->half[side].foreign;
    struct half *o = &c->half[other(side)];

    if (cause != NULL && o->foreign == NULL && !o->any && o->now == NULL &&
        (strcmp(cause, "http2") == 0 || strcmp(cause, "tls") == 0))
        half_turn_foreign(&c->table->pool, o, cause);
}

/* ---- stream callbacks */

static void *cb_open(void *ctx, const struct stream_info *info)
{
    struct conn_table *t = ctx;
    struct conn *c = t->free;

    if (c != NULL) {
        t->free = c->next;
        memset(c, 0, sizeof *c);
    } else {
        assert(t->used < t->n); /* as many as the stream table has */
        c = &t->all[t->used++];
    }
    c->table = t;
    c->info = *info;
    c->used = true;
    for (int i = 0; i < SIDES; i++)
        half_init(&c->half[i], info->start_seen[i],
                  info->client_known && i == SIDE_CLIENT, c);
    return c;
}

static void cb_prefetch(void *user, enum side side, int step)
{
    const struct conn *c = user;

    half_prefetch(&c->half[side], step);
}

static void cb_data(void *user, enum side side, const struct stream_piece *p)
{
    struct conn *c = user;
    struct half *h = &c->half[side];
    struct span in = p->bytes;
    bool segment = true;

    while (in.n > 0) {
        enum half_event ev =
            half_take(&c->table->pool, h, &in, segment, p->time_ns);

        if (ev != HALF_MORE)
            on_event(c, side, ev);
        segment = false;
    }
    if (h->foreign != NULL)
        share_foreign(c, side);
}

static void cb_gap(void *user, enum side side, const struct stream_gap *g)
{
    struct conn *c = user;
    struct conn_table *t = c->table;
    enum side client = client_side(c);
    struct conn_gap cg = {.client = c->info.addr[client],
                          .server = c->info.addr[other(client)],
                          .gap = g,
                          .side = side};

    t->handler.gap(t->handler.ctx, &cg);
    c->lost_n = g->n;
    on_event(c, side, half_gap(&t->pool, &c->half[side], g->n));
    c->lost_n = 0;
}

static bool touches(const struct message *m, const struct stream_conflict *x)
{
    return m->begun && x->offset < m->to && x->offset + x->n > m->from;
}

static void cb_conflict(void *user, enum side side,
                        const struct stream_conflict *x)
{
    struct conn *c = user;
    bool request = side == client_side(c), found = false;

    if (touches(&c->half[side].first, x)) {
        message_fault(&c->half[side].first, "conflict");
        found = true;
    }
    for (struct slot *s = c->queue.first; s != NULL; s = s->next) {
        struct message *m = request ? &s->req : &s->resp;

        if (touches(m, x)) {
            message_fault(m, "conflict");
            found = true;
        }
    }
    if (x->offset + x->n > c->half[side].offset) { /* they wait for others */
        half_doubt(&c->half[side], x->offset, x->offset + x->n);
        found = true;
    }
    if (!found) {
        c->table->count.late_conflicts++;
        c->table->count.late_conflict_bytes += x->n;
    }
}

static void cb_half_end(void *user, enum side side, int64_t time_ns)
{
    struct conn *c = user;

    (void)time_ns; /* the messages have their own times */
    c->half[side].closed = true;
    if (side == client_side(c) && !c->half[other(side)].closed)
        c->closed_first = true;
    if (http1_ends_at_close(&c->half[side].http))
        on_event(c, side, half_end(&c->table->pool, &c->half[side], true));
}

/* Why what is still open on a connection that ends will never be whole. */
static const char *end_cause(const struct conn *c, enum stream_end why,
                             enum side by)
{
    enum side client = client_side(c);

    if (why == END_CAPTURE && !c->half[SIDE_CLIENT].closed &&
        !c->half[SIDE_SERVER].closed)
        return "capture_end";
    if (c->closed_first ||
        (why == END_RESET && by == client && !c->half[other(client)].closed))
        return "client_cut";
    return "cut";
}

static bool one_sided(const struct conn *c, enum side side)
{
    return !c->info.start_seen[side] && !c->half[side].heard;
}

/* Why no answer was seen, when the connection ends. */
static const char *unanswered_cause(const struct conn *c, const char *cause)
{
    if (one_sided(c, other(client_side(c))) || c->queue.answers_lost ||
        strcmp(cause, "cut") == 0)
        return "no_answer";
    return cause;
}

/* Everything in the queue ends with the connection. */
static void end_slots(struct conn *c, const char *cause)
{
    pair_drop_markers(&c->queue, &c->table->slots);
    for (struct slot *s = c->queue.first; s != NULL; s = s->next) {
        if (s->has_req && !s->req.whole)
            message_fault(&s->req, cause);
        if (s->resp.begun && !s->resp.whole)
            message_fault(&s->resp, cause);
        if (!s->has_resp && s->cause == NULL) {
            s->cause = unanswered_cause(c, cause);
            s->gap_bytes += c->queue.lost_bytes;
            c->queue.lost_bytes = 0;
        }
        s->req_done = s->resp_done = true;
    }
    finish_done(c);
}

static void cb_end(void *user, enum stream_end why, enum side by,
                   int64_t time_ns)
{
    struct conn *c = user;
    struct conn_table *t = c->table;
    const char *cause = end_cause(c, why, by);

    (void)time_ns; /* the messages have their own times */
    for (int i = 0; i < SIDES; i++) {
        struct half *h = &c->half[i];

        switch (half_end(&t->pool, h, h->closed)) {
        case HALF_LOST:
            message_fault(h->now, cause);
            on_lost(c, (enum side)i);
            break;
        case HALF_END:
            on_end(c, (enum side)i);
            break;
        default:
            break;
        }
        half_tell_stray(&t->pool, h);
    }
    end_slots(c, cause);
    for (int i = 0; i < SIDES; i++)
        half_fini(&t->pool, &c->half[i]);
    c->used = false;
    c->next = t->free;
    t->free = c;
}

/* ---- the table */

int conn_open(const struct conn_config *c, const struct conn_handler *h,
              struct conn_table **ret_t)
{
    struct conn_table *t = calloc(1, sizeof *t);
    int err;

    if (t == NULL)
        return -ENOMEM;
    t->handler = *h;
    t->n = c->connections;
    t->pool.tell_stray = tell_stray;
    t->pool.messages.message_max = c->message_max;
    t->all = pool_map(t->n, sizeof *t->all);
    err = t->all == NULL ? -ENOMEM
                         : buddy_init(&t->pool.messages.memory, c->buffer_bytes,
                                      c->message_max);
    if (err == 0)
        err = slot_pool_init(&t->slots, c->exchanges);
    if (err != 0) {
        conn_close(t);
        return err;
    }
    *ret_t = t;
    return 0;
}

void conn_close(struct conn_table *t)
{
    if (t == NULL)
        return;
    slot_pool_fini(&t->slots);
    buddy_fini(&t->pool.messages.memory);
    pool_unmap(t->all, t->n, sizeof *t->all);
    free(t);
}

void conn_stream_handler(struct conn_table *t, struct stream_handler *ret_h)
{
    *ret_h = (struct stream_handler){.open = cb_open,
                                     .data = cb_data,
                                     .prefetch = cb_prefetch,
                                     .gap = cb_gap,
                                     .conflict = cb_conflict,
                                     .half_end = cb_half_end,
                                     .end = cb_end,
                                     .ctx = t};
}

void conn_recycle(struct conn_table *t, struct slot *s)
{
    message_release(&t->pool.messages, &s->req);
    message_release(&t->pool.messages, &s->resp);
    slot_give(&t->slots, s);
}

void conn_tell_strays(struct conn_table *t)
{
    for (size_t i = 0; i < t->used; i++)
        for (int side = 0; side < SIDES && t->all[i].used; side++)
            half_tell_stray(&t->pool, &t->all[i].half[side]);
}

void conn_counters(const struct conn_table *t, struct conn_counters *ret_c)
{
    *ret_c = t->count;
    ret_c->attributed_bytes = t->pool.attributed_bytes;
    ret_c->stray_bytes = t->pool.stray_bytes;
    ret_c->overflows += t->pool.messages.dropped;
    ret_c->overflow_bytes += t->pool.messages.dropped_bytes;
    ret_c->refused_slots = t->slots.refused;
}

unsigned conn_fill(const struct conn_table *t)
{
    size_t size = t->pool.messages.memory.n_tags << BUDDY_MIN_BITS;

    return (unsigned)(t->pool.messages.memory.used / (size / 100 + 1));
}
