/*
 * fuzz_net.c - a capture file, damaged in any way, through everything from
 * libpcap to the streams.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "net/net.h"

static uint64_t delivered;
static unsigned sum; /* so that every byte is read */

static void *on_open(void *ctx, const struct stream_info *info)
{
    (void)info;
    return ctx;
}

static void on_data(void *user, enum side side, const struct stream_piece *p)
{
    (void)user;
    (void)side;
    for (size_t i = 0; i < p->bytes.n; i++)
        sum += p->bytes.p[i];
    delivered += p->bytes.n;
}

static void check(const struct net *net)
{
    const struct stream_counters *s = net_stream_counters(net);
    struct net_counters c;
    uint64_t frames;

    net_counters(net, &c);
    frames = c.segments + c.joined + c.held_fragments;
    for (int i = 0; i < CAUSES; i++)
        frames += c.unparsed[i];
    assert(frames == c.frames && c.segments == s->segments);
    assert(s->payload_bytes == s->delivered_bytes + s->retransmitted_bytes +
                                   s->refused_bytes + s->held_bytes);
    assert(s->delivered_bytes == delivered);
}

static void run(const char *path)
{
    const struct net_config config = {.stream = {.streams = 8,
                                                 .blocks = 64,
                                                 .held_bytes = 65536,
                                                 .history_bytes = 4096,
                                                 .ack_grace_ns = 500000000,
                                                 .one_sided_ns = 2000000000,
                                                 .half_open_ns = 5000000000,
                                                 .idle_ns = 60000000000,
                                                 .linger_ns = 5000000000},
                                      .datagrams = 4,
                                      .fragment_ns = 30000000000};
    struct stream_handler handler = {.open = on_open, .data = on_data};
    struct source_config sc = {.file = path};
    enum source_state state;
    struct source *source;
    char why[300];
    struct net *net;

    if (source_open("pcap", &sc, why, sizeof(why), &source) != 0)
        return;
    delivered = 0;
    if (net_open(&config, &handler, &net) == 0) {
        do {
            state = source_read(source, 16, net_frames, net);
            check(net);
        } while (state == SOURCE_MORE);
        net_flush(net);
        check(net);
        net_close(net);
    }
    source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0)
        return 0;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size)
        run(path);
    (void)close(fd); /* in memory only */
    return 0;
}
