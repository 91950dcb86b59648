/*
 * note.h - what the tap tells of what is no exchange: bytes not understood,
 * things not seen, and the account of a capture interval.
 * Comes in: the fields. Goes out: the bodies of records of the kinds unparsed,
 * loss and traffic (docs/records.md).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_NOTICE_H
#define TAP_NOTICE_H

#include "store/record.h"

enum { NOTE_SAMPLE = 256, NOTE_TEXT = 128 };

enum note_kind { NOTE_UNPARSED, NOTE_LOSS, NOTE_TRAFFIC, NOTE_KINDS };

/* The byte account; names as the keys of the record. */
struct traffic {
    uint64_t frames, frame_bytes, segments, payload_bytes, attributed_bytes,
        retransmitted_bytes, unparsed_bytes, pending_bytes, gap_bytes,
        other_frames, streams_opened, streams_closed, exchanges;
};

struct note {
    enum note_kind kind;
    const char *cause;                         /* static; NULL for traffic */
    char client[NOTE_TEXT], server[NOTE_TEXT]; /* unparsed; "" unknown */
    char object[NOTE_TEXT]; /* loss: what it touched; traffic: the source */
    uint64_t stream, count, bytes;
    int64_t from_ns, to_ns;
    uint8_t sample[NOTE_SAMPLE]; /* unparsed */
    size_t sample_n;
    struct traffic traffic;
};

/* Starts a note with one occurrence at time_ns. */
void note_init(struct note *n, enum note_kind kind, const char *cause,
               int64_t time_ns);
void note_sample(struct note *n, struct span bytes);
/* The record kind's name. */
const char *note_record_kind(const struct note *n);
void note_record(const struct note *n, struct span tap, struct record *r);

/*
 * Many occurrences of one cause become few records: the first of an interval
 * each get their own, the others are added up until the interval ends.
 */
enum { TALLY_CELLS = 40 };

struct tally_cell {
    struct note sum; /* count 0: nothing waits */
    unsigned left;   /* notes of this interval that may still go alone */
};

typedef bool (*tally_fn)(void *ctx, const struct note *n);

struct tally {
    struct tally_cell cells[TALLY_CELLS];
    size_t n;
    unsigned alone; /* per cause and interval */
    tally_fn put;   /* false: no room now, the note is kept in the sum */
    void *ctx;
};

void tally_init(struct tally *t, unsigned alone, tally_fn put, void *ctx);
void tally_add(struct tally *t, const struct note *n);
/* The interval is over: what waits is put. */
void tally_flush(struct tally *t);

#endif
