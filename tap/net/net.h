/*
 * wire.h - the lower half of the tap in one handle: frames come in, the
 * callbacks of stream.h come out, every frame and byte is accounted for.
 *
 *   source_batch(src, 256, wire_frames, w)
 *     -> packet.c  -> (fragment.c)  -> stream.c -> your stream_handler
 *
 * frames = segments + joined + held_fragments + sum of unparsed counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_NET_H
#define TAP_NET_H

#include "source/source.h"
#include "tcp/stream.h"

/* Why a frame gave no segment; names as in docs/records.md. */
enum wire_cause {
    WIRE_LINK_TYPE,
    WIRE_ETHERTYPE,
    WIRE_IP_HEADER,
    WIRE_IP_VERSION,
    WIRE_IP_PROTOCOL,
    WIRE_TUNNEL,
    WIRE_FRAGMENT, /* of a datagram that never became whole */
    WIRE_TCP_HEADER,
    WIRE_TRUNCATED,
    WIRE_CAUSES
};

enum { WIRE_SAMPLE = 256 };

/* What one cause has collected since it was last taken. */
struct wire_unparsed {
    uint64_t count;
    uint64_t bytes; /* captured bytes of those frames */
    int64_t from_ns;
    int64_t to_ns;
    uint8_t sample[WIRE_SAMPLE]; /* begin of the first of them */
    size_t sample_n;
};

/* Totals since open. */
struct wire_counters {
    uint64_t frames, frame_bytes;
    uint64_t segments;
    uint64_t joined;         /* fragments that went into a whole datagram */
    uint64_t held_fragments; /* now waiting; not a total */
    uint64_t unparsed[WIRE_CAUSES];
    uint64_t fragment_evicted;   /* datagrams: pool full (`pool_fragments`) */
    uint64_t fragment_timeouts;  /* datagrams */
    uint64_t fragment_conflicts; /* datagrams with differing copies of bytes */
    uint64_t cut_segments, cut_bytes; /* payload beyond the capture length */
    int64_t from_ns, to_ns;           /* first and last frame; 0 before any */
};

struct wire_config {
    struct stream_config stream;
    uint32_t datagrams;  /* fragmented ones held at once, 64 KiB each */
    int64_t fragment_ns; /* how long they are waited for */
};

struct settings;
struct wire;

/* From the keys tap.* (all defaults: the settings of an empty file). */
void wire_config_read(const struct settings *s, struct wire_config *ret_c);

int wire_open(const struct wire_config *c, const struct stream_handler *h,
              struct wire **ret_w);
/* wire_flush, then frees. */
void wire_close(struct wire *w);

/* A frames_fn; ctx is the struct wire. */
void wire_frames(void *ctx, const struct frame *f, size_t n);
/* Time without packets, live: call it some times a second. */
void wire_tick(struct wire *w, int64_t time_ns);
/* The capture is over: held fragments are counted as `fragment`, every
 * connection ends with END_CAPTURE. */
void wire_flush(struct wire *w);

void wire_counters(const struct wire *w, struct wire_counters *ret_c);
const struct stream_counters *wire_stream_counters(const struct wire *w);
/* "ethertype" and so on, as in docs/records.md. */
const char *wire_cause_name(enum wire_cause cause);
/* Hands over what has been collected for a cause, and starts it anew; false
 * if there was nothing. */
bool wire_take_unparsed(struct wire *w, enum wire_cause cause,
                        struct wire_unparsed *ret_u);

#endif
