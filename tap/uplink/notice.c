/*
 * note.c - records of what is no exchange, and adding them up.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uplink/notice.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void note_init(struct note *n, enum note_kind kind, const char *cause,
               int64_t time_ns)
{
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->cause = cause;
    n->count = 1;
    n->from_ns = n->to_ns = time_ns;
}

void note_sample(struct note *n, struct span bytes)
{
    n->sample_n = bytes.n < NOTE_SAMPLE ? bytes.n : NOTE_SAMPLE;
    if (n->sample_n > 0)
        memcpy(n->sample, bytes.p, n->sample_n);
}

const char *note_record_kind(const struct note *n)
{
    static const char *const names[NOTE_KINDS] = {"unparsed", "loss",
                                                  "traffic"};

    return names[n->kind];
}

static void write_time(struct record *r, const char *key, int64_t time_ns)
{
    record_u64(r, key, time_ns > 0 ? (uint64_t)time_ns : 0);
}

static void write_traffic(const struct note *n, struct record *r)
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

static void write_counts(const struct note *n, struct record *r)
{
    record_u64(r, "count", n->count);
    record_u64(r, "bytes", n->bytes);
    write_time(r, "from_ns", n->from_ns);
    write_time(r, "to_ns", n->to_ns);
}

void note_record(const struct note *n, struct span tap, struct record *r)
{
    record_init(r);
    record_text(r, "tap", tap);
    switch (n->kind) {
    case NOTE_UNPARSED:
        record_text(r, "cause", span_str(n->cause));
        record_text(r, "client", span_str(n->client));
        record_text(r, "server", span_str(n->server));
        record_u64(r, "stream", n->stream);
        write_counts(n, r);
        break;
    case NOTE_LOSS:
        record_text(r, "cause", span_str(n->cause));
        record_text(r, "object", span_str(n->object));
        write_counts(n, r);
        break;
    default:
        write_traffic(n, r);
        break;
    }
}

void tally_init(struct tally *t, unsigned alone, tally_fn put, void *ctx)
{
    memset(t, 0, sizeof *t);
    t->alone = alone;
    t->put = put;
    t->ctx = ctx;
}

static struct tally_cell *cell_of(struct tally *t, const struct note *n)
{
    struct tally_cell *c;

    for (size_t i = 0; i < t->n; i++) {
        c = &t->cells[i];
        if (c->sum.kind == n->kind && strcmp(c->sum.cause, n->cause) == 0)
            return c;
    }
    assert(t->n < TALLY_CELLS); /* more than there are causes */
    c = &t->cells[t->n++];
    c->sum.kind = n->kind;
    c->sum.cause = n->cause;
    c->left = t->alone;
    return c;
}

/* Two notes that name different things together name none of them. */
static void add(struct note *sum, const struct note *n)
{
    if (sum->count == 0) {
        *sum = *n;
        return;
    }
    if (strcmp(sum->client, n->client) != 0)
        sum->client[0] = '\0';
    if (strcmp(sum->server, n->server) != 0)
        sum->server[0] = '\0';
    if (strcmp(sum->object, n->object) != 0)
        sum->object[0] = '\0';
    if (sum->stream != n->stream)
        sum->stream = 0;
    sum->count += n->count;
    sum->bytes += n->bytes;
    if (n->from_ns < sum->from_ns)
        sum->from_ns = n->from_ns;
    if (n->to_ns > sum->to_ns)
        sum->to_ns = n->to_ns;
}

void tally_add(struct tally *t, const struct note *n)
{
    struct tally_cell *c = cell_of(t, n);

    if (c->left > 0 && t->put(t->ctx, n)) {
        c->left--;
        return;
    }
    add(&c->sum, n);
}

void tally_flush(struct tally *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct tally_cell *c = &t->cells[i];

        c->left = t->alone;
        if (c->sum.count > 0 && t->put(t->ctx, &c->sum))
            c->sum.count = 0;
    }
}
