/*
 * notice.h - what the tap tells of what is no exchange: bytes not understood,
 * things not seen, and the account of a capture interval.
 * Comes in: the fields. Goes out: the bodies of records of the kinds unparsed,
 * loss and traffic (docs/records.md).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_NOTICE_H
#define TAP_NOTICE_H

#include "store/record.h"

enum { NOTICE_SAMPLE = 256, NOTICE_TEXT = 128 };

enum notice_kind { NOTICE_UNPARSED, NOTICE_LOSS, NOTICE_TRAFFIC, NOTICE_KINDS };

/* The byte account; names as the keys of the record. */
struct traffic {
    uint64_t frames, frame_bytes, segments, payload_bytes, attributed_bytes,
        retransmitted_bytes, unparsed_bytes, pending_bytes, gap_bytes,
        other_frames, streams_opened, streams_closed, exchanges;
};

struct notice {
    enum notice_kind kind;
    const char *cause; /* static; NULL for traffic */
    char client[NOTICE_TEXT], server[NOTICE_TEXT]; /* unparsed; "" unknown */
    char object[NOTICE_TEXT]; /* loss: what it touched; traffic: the source */
    uint64_t stream, count, bytes;
    int64_t from_ns, to_ns;
    uint8_t sample[NOTICE_SAMPLE]; /* unparsed */
    size_t sample_n;
    struct traffic traffic;
};

/* Starts a notice with one occurrence at time_ns. */
void notice_init(struct notice *n, enum notice_kind kind, const char *cause,
                 int64_t time_ns);
void notice_sample(struct notice *n, struct span bytes);
/* The record kind's name. */
const char *notice_record_kind(const struct notice *n);
void notice_record(const struct notice *n, struct span tap, struct record *r);

#endif
