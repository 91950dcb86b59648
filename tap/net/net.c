/*
 * wire.c - the lower half of the tap: frame, packet, fragments, streams.
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
#include "net/packet.h"

struct wire {
    struct fragment_pool *fragments;
    struct stream_table *streams;
    struct wire_counters count;
    struct wire_unparsed unparsed[WIRE_CAUSES];
    struct packet packet[SOURCE_BURST];  /* of the frames in hand */
    struct tap_clock clock;              /* for fragments */
    uint64_t lost_fragments, lost_bytes; /* counted so far */
};

static const char *const cause_names[WIRE_CAUSES] = {
    [WIRE_LINK_TYPE] = "link_type",     [WIRE_ETHERTYPE] = "ethertype",
    [WIRE_IP_HEADER] = "ip_header",     [WIRE_IP_VERSION] = "ip_version",
    [WIRE_IP_PROTOCOL] = "ip_protocol", [WIRE_TUNNEL] = "tunnel",
    [WIRE_FRAGMENT] = "fragment",       [WIRE_TCP_HEADER] = "tcp_header",
    [WIRE_TRUNCATED] = "truncated",
};

const char *wire_cause_name(enum wire_cause cause)
{
    return cause_names[cause];
}

int wire_open(const struct wire_config *c, const struct stream_handler *h,
              struct wire **ret_w)
{
    struct wire *w = calloc(1, sizeof(*w));
    int rc;

    if (w == NULL)
        return -ENOMEM;
    rc = fragment_open(c->datagrams, c->fragment_ns, &w->fragments);
    if (rc == 0)
        rc = stream_open(&c->stream, h, &w->streams);
    if (rc != 0) {
        fragment_close(w->fragments);
        free(w);
        return rc;
    }
    *ret_w = w;
    return 0;
}

void wire_close(struct wire *w)
{
    if (w == NULL)
        return;
    wire_flush(w);
    stream_close(w->streams);
    fragment_close(w->fragments);
    free(w);
}

static void note_unparsed(struct wire *w, enum wire_cause cause,
                          const struct frame *f)
{
    struct wire_unparsed *u = &w->unparsed[cause];

    w->count.unparsed[cause]++;
    if (u->count++ == 0) {
        u->from_ns = f->time_ns;
        u->sample_n = f->n < WIRE_SAMPLE ? f->n : WIRE_SAMPLE;
        memcpy(u->sample, f->p, u->sample_n);
    }
    u->bytes += f->n;
    u->to_ns = f->time_ns;
}

/* Fragments whose datagram was given up since we last looked. */
static void note_lost_fragments(struct wire *w)
{
    const struct fragment_counters *c = fragment_counters(w->fragments);
    struct wire_unparsed *u = &w->unparsed[WIRE_FRAGMENT];

    if (c->lost == w->lost_fragments)
        return;
    w->count.unparsed[WIRE_FRAGMENT] += c->lost - w->lost_fragments;
    if (u->count == 0)
        u->from_ns = w->count.to_ns;
    u->count += c->lost - w->lost_fragments;
    u->bytes += c->lost_bytes - w->lost_bytes;
    u->to_ns = w->count.to_ns;
    w->lost_fragments = c->lost;
    w->lost_bytes = c->lost_bytes;
}

static void take_segment(struct wire *w, const struct segment *s)
{
    w->count.segments++;
    if (s->cut > 0) {
        w->count.cut_segments++;
        w->count.cut_bytes += s->cut;
    }
    stream_push(w->streams, s);
}

static void take_fragment(struct wire *w, struct packet *p,
                          const struct frame *f)
{
    struct datagram_out d;

    (void)clock_advance(&w->clock, f->time_ns); /* steps are told by streams */
    fragment_tick(w->fragments, w->clock.now_ns);
    switch (fragment_push(w->fragments, &p->fragment, w->clock.now_ns, &d)) {
    case FRAGMENT_HELD:
        break;
    case FRAGMENT_REFUSED:
        note_unparsed(w, WIRE_FRAGMENT, f);
        break;
    case FRAGMENT_WHOLE:
        if (packet_datagram(&d.ip, d.body, f->time_ns, p) != PACKET_SEGMENT) {
            note_unparsed(w, p->cause, f);
            break;
        }
        p->segment.doubtful = d.conflict;
        take_segment(w, &p->segment);
        break;
    }
    note_lost_fragments(w);
}

static void take_frame(struct wire *w, struct packet *p, const struct frame *f)
{
    if (w->count.frames++ == 0)
        w->count.from_ns = f->time_ns;
    w->count.frame_bytes += f->n;
    w->count.to_ns = f->time_ns;
    switch (p->kind) {
    case PACKET_SEGMENT:
        take_segment(w, &p->segment);
        break;
    case PACKET_FRAGMENT:
        take_fragment(w, p, f);
        break;
    case PACKET_UNPARSED:
        note_unparsed(w, p->cause, f);
        break;
    }
}

void wire_frames(void *ctx, const struct frame *f, size_t n)
{
    const struct segment *ahead[SOURCE_BURST] = {NULL};
    struct wire *w = ctx;
    size_t segments = 0;

    assert(n <= SOURCE_BURST);
    for (size_t i = 0; i < n; i++) {
        w->packet[i].kind = packet_decode(&f[i], &w->packet[i]);
        if (w->packet[i].kind == PACKET_SEGMENT)
            ahead[segments++] = &w->packet[i].segment;
    }
    stream_expect(w->streams, ahead, segments);
    for (size_t i = 0; i < n; i++)
        take_frame(w, &w->packet[i], &f[i]);
}

void wire_tick(struct wire *w, int64_t time_ns)
{
    if (w->clock.started) {
        (void)clock_advance(&w->clock, time_ns); /* steps: see above */
        fragment_tick(w->fragments, w->clock.now_ns);
    }
    note_lost_fragments(w);
    stream_tick(w->streams, time_ns);
}

void wire_flush(struct wire *w)
{
    fragment_flush(w->fragments);
    note_lost_fragments(w);
    stream_flush(w->streams);
}

void wire_counters(const struct wire *w, struct wire_counters *ret_c)
{
    const struct fragment_counters *f = fragment_counters(w->fragments);

    *ret_c = w->count;
    ret_c->joined = f->joined;
    ret_c->held_fragments = f->held;
    ret_c->fragment_evicted = f->evicted;
    ret_c->fragment_timeouts = f->timeouts;
    ret_c->fragment_conflicts = f->conflicts;
}

const struct stream_counters *wire_stream_counters(const struct wire *w)
{
    return stream_counters(w->streams);
}

bool wire_take_unparsed(struct wire *w, enum wire_cause cause,
                        struct wire_unparsed *ret_u)
{
    if (w->unparsed[cause].count == 0)
        return false;
    *ret_u = w->unparsed[cause];
    memset(&w->unparsed[cause], 0, sizeof(w->unparsed[cause]));
    return true;
}

void wire_config_read(const struct settings *s, struct wire_config *ret_c)
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
