/*
 * backend.h - what a source is inside, for its back ends.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_BACKEND_H
#define TAP_BACKEND_H

#include "source/source.h"

enum {
    SOURCE_LABEL = 128,
    SOURCE_WHY = 512,
    SOURCE_BURST_BYTES = 32768 /* of frames kept for a burst */
};

/* Frames that wait for their burst to be full. */
struct burst {
    struct frame frame[SOURCE_BURST];
    size_t n;
    size_t used; /* of bytes */
    uint8_t bytes[SOURCE_BURST_BYTES];
};

struct source {
    const struct source_ops *ops;
    void *state;  /* the back end's own */
    frames_fn fn; /* during read */
    void *ctx;
    enum link_type link;
    int fd; /* for poll, or -1 */
    struct source_stats stats;
    char label[SOURCE_LABEL];
    char why[SOURCE_WHY];
    struct burst burst; /* empty between reads */
};

extern const struct source_ops source_pcap;
extern const struct source_ops source_dpdk;

/* Seconds and a part of them to ns; what does not fit is counted, and 0. */
int64_t source_time(struct source *s, int64_t sec, int64_t nsec);
/* Counts the frame and hands it over, in a burst. */
void source_emit(struct source *s, const struct frame *f);
void source_say(struct source *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "live:eth0" or "file:a.pcap". */
void source_set_label(struct source *s, const struct source_config *c);

#endif
