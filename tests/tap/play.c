/*
 * play.c - connections played by hand for tests of the streams.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tcp/lookahead.h"

struct stream_config play_config(void)
{
    struct net_config c = replay_config();

    c.stream.streams = 64;
    c.stream.blocks = 256;
    return c.stream;
}

void play_open(struct play *p, const struct stream_config *c)
{
    memset(p, 0, sizeof *p);
    witness_init(&p->rec);
    p->now_ns = INT64_C(1764417600000000000);
    p->client = 0x0a000002;
    p->port = 40000;
    assert_int_equal(stream_open(c, &p->rec.handler, &p->table), 0);
}

const struct stream_counters *play_count(const struct play *p)
{
    return stream_counters(p->table);
}

static void check_account(const struct play *p)
{
    const struct stream_counters *c = play_count(p);
    uint64_t delivered = 0, gaps = 0;

    assert_true(c->payload_bytes == c->delivered_bytes +
                                        c->retransmitted_bytes +
                                        c->refused_bytes + c->held_bytes);
    for (size_t i = 0; i < p->rec.n; i++) {
        for (int k = 0; k < SIDES; k++) {
            const struct recorded_side *d = &p->rec.streams[i]->side[k];

            delivered += d->n;
            gaps += d->gap_bytes;
            assert_true(d->next == d->n + d->gap_bytes);
        }
    }
    assert_true(delivered == c->delivered_bytes);
    assert_true(gaps == c->gap_bytes);
}

void play_flush(struct play *p)
{
    check_account(p);
    stream_flush(p->table);
    check_account(p);
    assert_true(play_count(p)->held_bytes == 0);
    assert_true(play_count(p)->opened == play_count(p)->closed);
}

void play_close(struct play *p)
{
    play_flush(p);
    stream_close(p->table);
    witness_fini(&p->rec);
}

void play_bytes(struct play *p, enum side from, unsigned flags,
                struct play_numbers at, struct span bytes)
{
    const uint64_t server = 0x0100000a; /* 10.0.0.1, bytes in wire order */
    uint64_t client = __builtin_bswap32(p->client);
    bool client_low = client < server;
    uint64_t low = client_low ? p->port : 80, high = client_low ? 80 : p->port;
    struct segment s = {
        .key = {{client_low ? client : server, 0, client_low ? server : client,
                 0, low << 48 | high << 32 | 4}},
        .tag = p->tag,
        .seq = at.seq,
        .ack = at.ack,
        .window = 64000,
        .flags = (uint8_t)flags,
        .scale = TCP_NO_SCALE,
        .from_high = client_low == (from == SIDE_SERVER),
        .cut = p->cut,
        .doubtful = p->doubtful,
        .checksum = (uint8_t)p->checksum,
        .mss = flags & TCP_SYN ? p->mss : 0,
        .urgent = p->urgent,
        .payload = bytes,
        .time_ns = p->now_ns,
    };

    p->cut = 0;
    p->doubtful = false;
    stream_prefetch(p->table, &(const struct segment *){&s}, 1);
    stream_push(p->table, &s);
    p->now_ns += 1000;
}

void play_text(struct play *p, enum side from, unsigned flags,
               struct play_numbers at, const char *text)
{
    play_bytes(p, from, flags, at, span_str(text));
}

void play_handshake(struct play *p)
{
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(CLIENT_ISN + 1, SERVER_ISN + 1),
              "");
}

void play_data(struct play *p, enum side from, uint32_t offset,
               uint32_t ack_offset, const char *text)
{
    uint32_t client = CLIENT_ISN + 1, server = SERVER_ISN + 1;

    if (from == SIDE_CLIENT)
        play_text(p, from, TCP_ACK,
                  play_at(client + offset, server + ack_offset), text);
    else
        play_text(p, from, TCP_ACK,
                  play_at(server + offset, client + ack_offset), text);
}

void play_wait(struct play *p, int64_t ms)
{
    p->now_ns += ms * 1000000;
    stream_tick(p->table, p->now_ns);
}

void assert_bytes(const struct play *p, size_t stream, enum side side,
                  const char *text)
{
    const struct recorded_side *d;

    assert_true(stream < p->rec.n);
    d = &p->rec.streams[stream]->side[side];
    assert_int_equal(d->n, strlen(text));
    if (d->n > 0)
        assert_memory_equal(d->bytes, text, d->n);
}
