/*
 * notice.c - records of what is no exchange.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uplink/notice.h"

#include <stdio.h>
#include <string.h>

void notice_init(struct notice *n, enum notice_kind kind, const char *cause,
                 int64_t time_ns)
{
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->cause = cause;
    n->count = 1;
    n->from_ns = n->to_ns = time_ns;
}

void notice_sample(struct notice *n, struct span bytes)
{
    n->sample_n = bytes.n < NOTICE_SAMPLE ? bytes.n : NOTICE_SAMPLE;
    if (n->sample_n > 0)
        memcpy(n->sample, bytes.p, n->sample_n);
}

const char *notice_record_kind(const struct notice *n)
{
    static const char *const names[NOTICE_KINDS] = {"unparsed", "loss",
                                                    "traffic"};

    return names[n->kind];
}

static void write_time(struct record *r, const char *key, int64_t time_ns)
{
    record_u64(r, key, time_ns > 0 ? (uint64_t)time_ns : 0);
}

static void write_traffic(const struct notice *n, struct record *r)
{
    const struct traffic *t = &n->traffic;

    record_text(r, "source", span_str(n->object));
    write_time(r, "from_ns", n->from_ns);
    write_time(r, "to_ns", n->to_ns);
    record_u64(r, "frames", t->frames);
    record_u64(r, "frame_bytes", t->frame_bytes);
    record_u64(r, "segments", t->segments);
    record_u64(r, "payload_bytes", t->payload_bytes);
    record_u64(r, "attributed_bytes", t->attributed_bytes);
    record_u64(r, "retransmitted_bytes", t->retransmitted_bytes);
    record_u64(r, "unparsed_bytes", t->unparsed_bytes);
    record_u64(r, "pending_bytes", t->pending_bytes);
    record_u64(r, "gap_bytes", t->gap_bytes);
    record_u64(r, "other_frames", t->other_frames);
    record_u64(r, "streams_opened", t->streams_opened);
    record_u64(r, "streams_closed", t->streams_closed);
    record_u64(r, "exchanges", t->exchanges);
}

static void write_counts(const struct notice *n, struct record *r)
{
    record_u64(r, "count", n->count);
    record_u64(r, "bytes", n->bytes);
    write_time(r, "from_ns", n->from_ns);
    write_time(r, "to_ns", n->to_ns);
}

void notice_record(const struct notice *n, struct span tap, struct record *r)
{
    record_init(r);
    record_text(r, "tap", tap);
    switch (n->kind) {
    case NOTICE_UNPARSED:
        record_text(r, "cause", span_str(n->cause));
        record_text(r, "client", span_str(n->client));
        record_text(r, "server", span_str(n->server));
        record_u64(r, "stream", n->stream);
        write_counts(n, r);
        break;
    case NOTICE_LOSS:
        record_text(r, "cause", span_str(n->cause));
        record_text(r, "object", span_str(n->object));
        write_counts(n, r);
        break;
    default:
        write_traffic(n, r);
        break;
    }
}
