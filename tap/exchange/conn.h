/*
 * conn.h - the connections: stream callbacks in, finished exchanges out.
 * Comes in: bytes, gaps and ends of both directions (tcp.h). Goes out, by
 * two functions of the caller: each exchange once, whole or with the cause
 * why not, and each run of bytes that belong to none.
 * All memory is taken at the start; a full pool is a counted loss.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CONN_H
#define TAP_CONN_H

#include "exchange/exchange.h"

struct conn_config {
    size_t connections;  /* at once; not less than the stream table's */
    size_t exchanges;    /* open or waiting to be recorded */
    size_t buffer_bytes; /* for messages */
    size_t message_max;  /* bytes of one side */
};

/* A run of bytes that belong to no message; borrowed for the call. */
struct conn_stray {
    const char *cause; /* as in docs/records.md */
    const char *client, *server;
    uint64_t stream;
    uint64_t bytes;
    bool again; /* goes on from a run that was reported before */
    int64_t from_ns, to_ns;
    struct span sample;
};

struct conn_gap {
    const char *client, *server;
    const struct stream_gap *gap;
    enum side side;
};

struct conn_handler {
    /* The caller keeps the slot until conn_recycle. */
    void (*exchange)(void *ctx, struct slot *s);
    void (*stray)(void *ctx, const struct conn_stray *s);
    void (*gap)(void *ctx, const struct conn_gap *g);
    void *ctx;
};

/* Totals. */
struct conn_counters {
    uint64_t attributed_bytes; /* of exchanges, and what half.h adds */
    uint64_t stray_bytes;
    uint64_t exchanges;
    uint64_t overflows, overflow_bytes;           /* not kept: no memory, or
                                                     the message too large */
    uint64_t refused_slots;                       /* messages without a slot */
    uint64_t late_conflicts, late_conflict_bytes; /* exchange was recorded */
};

struct conn_table;

int conn_open(const struct conn_config *c, const struct conn_handler *h,
              struct conn_table **ret_t);
void conn_close(struct conn_table *t);
/* The functions to give to net_open; its ctx is the table. */
void conn_stream_handler(struct conn_table *t, struct stream_handler *ret_h);
void conn_recycle(struct conn_table *t, struct slot *s);
/* Reports what is known of runs of stray bytes that still go on. */
void conn_tell_strays(struct conn_table *t);
void conn_counters(const struct conn_table *t, struct conn_counters *ret_c);
/* Share of the buffers that is in use, in percent. */
unsigned conn_fill(const struct conn_table *t);

#endif
