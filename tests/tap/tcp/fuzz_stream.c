/*
 * fuzz_stream.c - segments of a few connections in any order, twelve bytes of
 * input each: connection and side, flags, seq, ack (signed distances from the
 * numbers of a lawful sender), length, cut, fill (and checksum), step of the
 * clock. Small pools, so that they fill. What tcp.h promises is asserted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tcp/lookahead.h"
#include "tcp/stream.h"

enum { CONNECTIONS = 4, SEGMENT_MAX = 5000 };

struct seen {
    uint64_t next[SIDES];
    bool closed[SIDES], ended;
};

static uint64_t delivered, gaps, open_now;
static uint32_t front[CONNECTIONS][2];

static void *on_open(void *ctx, const struct stream_info *info)
{
    struct seen *s = calloc(1, sizeof *s);

    (void)ctx;
    assert(s != NULL);
    assert(info->addr[0][0] != '\0' && info->addr[1][0] != '\0');
    open_now++;
    return s;
}

static void on_data(void *user, enum side side, const struct stream_piece *p)
{
    struct seen *s = user;

    assert(!s->ended && !s->closed[side]);
    assert(p->bytes.n > 0 && p->offset == s->next[side]);
    s->next[side] += p->bytes.n;
    delivered += p->bytes.n;
}

static void on_gap(void *user, enum side side, const struct stream_gap *g)
{
    struct seen *s = user;

    assert(!s->ended && !s->closed[side]);
    assert(g->n > 0 && g->offset == s->next[side]);
    s->next[side] += g->n;
    gaps += g->n;
}

static void on_half_end(void *user, enum side side, int64_t time_ns)
{
    struct seen *s = user;

    (void)time_ns;
    assert(!s->ended && !s->closed[side]);
    s->closed[side] = true;
}

static void on_end(void *user, enum stream_end why, enum side by,
                   int64_t time_ns)
{
    (void)why;
    (void)by;
    (void)time_ns;
    free(user);
    open_now--;
}

static void check(const struct stream_counters *c)
{
    assert(c->payload_bytes == c->delivered_bytes + c->retransmitted_bytes +
                                   c->refused_bytes + c->held_bytes);
    assert(c->refused_bytes == c->refused_window + c->refused_reset +
                                   c->refused_closed + c->refused_late +
                                   c->refused_pool + c->refused_checksum);
    assert(c->delivered_bytes == delivered && c->gap_bytes == gaps);
}

/* A distance from where a lawful sender stands; one bit makes it wild. */
static uint32_t distance(uint8_t coarse, uint8_t fine)
{
    if (coarse == 0xff)
        return (uint32_t)fine << 24;
    return (uint32_t)((int8_t)coarse * 512 + (int8_t)fine);
}

static void push(struct stream_table *t, const uint8_t *d, uint64_t *now_ns)
{
    static uint8_t fill[SEGMENT_MAX];
    unsigned k = d[0] % CONNECTIONS, from = d[0] >> 2 & 1;
    struct segment s = {
        .key = {{2, 0, 1, 0,
                 (uint64_t)(40000 + k) << 48 | (uint64_t)80 << 32 | 4}},
        .tag = d[0] >> 3 & 1,
        .from_high = from,
        .flags = d[1],
        .seq = front[k][from] + distance(d[2], d[3]),
        .ack = front[k][!from] + distance(d[4], d[5]),
        .window = (uint16_t)(d[6] << 8),
        .scale = d[0] & 0x80 ? TCP_NO_SCALE : d[0] >> 4 & 7,
        .cut = d[8] & 0x80 ? d[8] : 0,
        .checksum = d[9] & 3,
        .mss = d[3],
        .urgent = d[5],
        .payload = {fill, (size_t)(d[6] << 8 | d[7]) % SEGMENT_MAX},
    };

    memset(fill, d[9], s.payload.n);
    *now_ns += (uint64_t)d[10] * d[10] * d[11] * 100000;
    if (d[11] == 0xff)
        *now_ns = (uint64_t)d[10] << 56;
    s.time_ns = (int64_t)*now_ns;
    stream_prefetch(t, &(const struct segment *){&s}, 1);
    stream_push(t, &s);
    if (d[0] & 0x40) /* a lawful sender goes on from here */
        front[k][from] = s.seq + (uint32_t)s.payload.n;
    if (d[8] == 1)
        stream_tick(t, (int64_t)*now_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct stream_config config = {.streams = 3,
                                         .blocks = 24,
                                         .held_bytes = 16384,
                                         .history_bytes = 2048,
                                         .ack_grace_ns = 500000000,
                                         .one_sided_ns = 2000000000,
                                         .half_open_ns = 5000000000,
                                         .idle_ns = 600000000000,
                                         .linger_ns = 5000000000};
    const struct stream_handler handler = {.open = on_open,
                                           .data = on_data,
                                           .gap = on_gap,
                                           .half_end = on_half_end,
                                           .end = on_end};
    struct stream_table *t;
    uint64_t now_ns = 1;

    delivered = gaps = open_now = 0;
    memset(front, 0, sizeof(front));
    if (stream_open(&config, &handler, &t) != 0)
        return 0;
    for (; size >= 12; data += 12, size -= 12) {
        push(t, data, &now_ns);
        check(stream_counters(t));
    }
    /* Nothing waits for ever: whatever is missing is given up in silence. */
    for (int i = 0; i < 20; i++) {
        now_ns += 3000000000;
        stream_tick(t, (int64_t)now_ns);
    }
    assert(stream_counters(t)->held_bytes == 0);
    stream_flush(t);
    check(stream_counters(t));
    assert(stream_counters(t)->held_bytes == 0);
    assert(stream_counters(t)->opened == stream_counters(t)->closed);
    assert(open_now == 0);
    stream_close(t);
    return 0;
}
