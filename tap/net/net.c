/*
 * net.c - frames through link, IP, fragments and streams, a burst at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net/net.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "config/settings.h"
#include "net/fragment.h"
#include "net/ip.h"
#include "net/link.h"
#include "tcp/lookahead.h"
#include "tcp/stream.h"

struct net {
    struct fragment_pool *fragments;
    struct stream_table *streams;
    struct net_counters count;
    struct net_unparsed unparsed[CAUSES];
    struct packet packet[SOURCE_BURST];  /* of the frames in hand */
    struct tap_clock clock;              /* for fragments */
    uint64_t lost_fragments, lost_bytes; /* counted so far */
};

static const char *const cause_names[CAUSES] = {
    [CAUSE_LINK_TYPE] = "link_type",     [CAUSE_ETHERTYPE] = "ethertype",
    [CAUSE_IP_HEADER] = "ip_header",     [CAUSE_IP_VERSION] = "ip_version",
    [CAUSE_IP_PROTOCOL] = "ip_protocol", [CAUSE_TUNNEL] = "tunnel",
    [CAUSE_FRAGMENT] = "fragment",       [CAUSE_TCP_HEADER] = "tcp_header",
    [CAUSE_TRUNCATED] = "truncated",
};

const char *packet_cause_name(enum packet_cause cause)
{
    return cause_names[cause];
}

int net_open(const struct net_config *c, const struct stream_handler *h,
             struct net **ret_net)
{
    struct net *net = calloc(1, sizeof *net);
    int rc;

    if (net == NULL)
        return -ENOMEM;
    rc = fragment_open(c->datagrams, c->fragment_ns, &net->fragments);
    if (rc == 0)
        rc = stream_open(&c->stream, h, &net->streams);
    if (rc != 0) {
        fragment_close(net->fragments);
        free(net);
        return rc;
    }
    *ret_net = net;
    return 0;
}

void net_close(struct net *net)
{
    if (net == NULL)
        return;
    net_flush(net);
    stream_close(net->streams);
    fragment_close(net->fragments);
    free(net);
}

static void note_unparsed(struct net *net, enum packet_cause cause,
                          const struct frame *f)
{
    struct net_unparsed *u = &net->unparsed[cause];

    net->count.unparsed[cause]++;
    if (u->count++ == 0) {
        u->from_ns = f->time_ns;
        u->sample_n = f->n < NET_SAMPLE ? f->n : NET_SAMPLE;
        memcpy(u->sample, f->p, u->sample_n);
    }
    u->bytes += f->n;
    u->to_ns = f->time_ns;
}

/* Fragments whose datagram was given up since we last looked. */
static void note_lost_fragments(struct net *net)
{
    const struct fragment_counters *c = fragment_counters(net->fragments);
    struct net_unparsed *u = &net->unparsed[CAUSE_FRAGMENT];

    if (c->lost == net->lost_fragments)
        return;
    net->count.unparsed[CAUSE_FRAGMENT] += c->lost - net->lost_fragments;
    if (u->count == 0)
        u->from_ns = net->count.to_ns;
    u->count += c->lost - net->lost_fragments;
    u->bytes += c->lost_bytes - net->lost_bytes;
    u->to_ns = net->count.to_ns;
    net->lost_fragments = c->lost;
    net->lost_bytes = c->lost_bytes;
}

static void take_segment(struct net *net, const struct segment *s)
{
    net->count.segments++;
    if (s->cut > 0) {
        net->count.cut_segments++;
        net->count.cut_bytes += s->cut;
    }
    stream_push(net->streams, s);
}

static void take_fragment(struct net *net, struct packet *p,
                          const struct frame *f)
{
    struct datagram_out d;

    (void)clock_advance(&net->clock,
                        f->time_ns); /* steps are told by streams */
    fragment_tick(net->fragments, net->clock.now_ns);
    switch (
        fragment_push(net->fragments, &p->fragment, net->clock.now_ns, &d)) {
    case FRAGMENT_HELD:
        break;
    case FRAGMENT_REFUSED:
        note_unparsed(net, CAUSE_FRAGMENT, f);
        break;
    case FRAGMENT_WHOLE:
        if (packet_datagram(&d.ip, d.body, f->time_ns, p) != PACKET_SEGMENT) {
            note_unparsed(net, p->cause, f);
            break;
        }
        p->segment.doubtful = d.conflict;
        take_segment(net, &p->segment);
        break;
    }
    note_lost_fragments(net);
}

static void take_frame(struct net *net, struct packet *p, const struct frame *f)
{
    if (net->count.frames++ == 0)
        net->count.from_ns = f->time_ns;
    net->count.frame_bytes += f->n;
    net->count.to_ns = f->time_ns;
    switch (p->kind) {
    case PACKET_SEGMENT:
        take_segment(net, &p->segment);
        break;
    case PACKET_FRAGMENT:
        take_fragment(net, p, f);
        break;
    case PACKET_UNPARSED:
        note_unparsed(net, p->cause, f);
        break;
    }
}

void net_frames(void *ctx, const struct frame *f, size_t n)
{
    const struct segment *ahead[SOURCE_BURST] = {NULL};
    struct net *net = ctx;
    size_t segments = 0;

    assert(n <= SOURCE_BURST);
    for (size_t i = 0; i < n; i++) {
        net->packet[i].kind = packet_decode(&f[i], &net->packet[i]);
        if (net->packet[i].kind == PACKET_SEGMENT)
            ahead[segments++] = &net->packet[i].segment;
    }
    stream_prefetch(net->streams, ahead, segments);
    for (size_t i = 0; i < n; i++)
        take_frame(net, &net->packet[i], &f[i]);
}

void net_tick(struct net *net, int64_t time_ns)
{
    if (net->clock.started) {
        (void)clock_advance(&net->clock, time_ns); /* steps: see above */
        fragment_tick(net->fragments, net->clock.now_ns);
    }
    note_lost_fragments(net);
    stream_tick(net->streams, time_ns);
}

void net_flush(struct net *net)
{
    fragment_flush(net->fragments);
    note_lost_fragments(net);
    stream_flush(net->streams);
}

void net_counters(const struct net *net, struct net_counters *ret_c)
{
    const struct fragment_counters *f = fragment_counters(net->fragments);

    *ret_c = net->count;
    ret_c->joined = f->joined;
    ret_c->held_fragments = f->held;
    ret_c->fragment_evicted = f->evicted;
    ret_c->fragment_timeouts = f->timeouts;
    ret_c->fragment_conflicts = f->conflicts;
}

const struct stream_counters *net_stream_counters(const struct net *net)
{
    return stream_counters(net->streams);
}

bool net_take_unparsed(struct net *net, enum packet_cause cause,
                       struct net_unparsed *ret_u)
{
    if (net->unparsed[cause].count == 0)
        return false;
    *ret_u = net->unparsed[cause];
    memset(&net->unparsed[cause], 0, sizeof(net->unparsed[cause]));
    return true;
}

void net_config_read(const struct settings *s, struct net_config *ret_c)
{
    static const int64_t ms = 1000000, second = 1000000000;
    struct stream_config *c = &ret_c->stream;

    c->streams = (uint32_t)settings_int(s, "tap.streams");
    c->blocks = (uint32_t)settings_int(s, "tap.segments");
    c->held_bytes = (uint32_t)settings_int(s, "tap.held_kib") * 1024;
    c->history_bytes = (uint32_t)settings_int(s, "tap.history_kib") * 1024;
    c->ack_grace_ns = settings_int(s, "tap.ack_grace_ms") * ms;
    c->one_sided_ns = settings_int(s, "tap.one_sided_ms") * ms;
    c->half_open_ns = settings_int(s, "tap.half_open_s") * second;
    c->idle_ns = settings_int(s, "tap.idle_s") * second;
    c->linger_ns = settings_int(s, "tap.linger_s") * second;
    ret_c->datagrams = (uint32_t)settings_int(s, "tap.fragments");
    ret_c->fragment_ns = settings_int(s, "tap.fragment_s") * second;
}
