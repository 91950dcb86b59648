/*
 * reorder.h - the messages of batch feeds in the order of their numbers.
 * Comes in: messages as they arrive, from the wire or the listener, perhaps
 * late, twice or not at all. Goes out: each message once, in order as far as a
 * short wait allows, and the numbers that never came.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_REORDER_H
#define TAP_REORDER_H

#include "feed/batch_step.h"

struct post;

/* A message on its way; reorder_* own it from reorder_add on. */
struct step_message {
    struct step_message *next;
    struct batch_step step;
    struct post *post; /* to be told when it is durable, or NULL */
    size_t parts, parts_left;
    int64_t time_ns;    /* when it was captured or received */
    int64_t arrived_ns; /* the same on a clock that does not step */
    uint8_t digest[32];
    size_t n;
    uint8_t text[]; /* the message */
};

/* n messages of this feed, up to some number, did not come. */
struct feed_gap {
    struct span engine, feed;
    uint64_t n;
    int64_t from_ns, to_ns; /* of the message before, and of the one after */
};

struct reorder_handler {
    /* Takes the message over. */
    void (*step)(void *ctx, struct step_message *m);
    /* It has come before, byte for byte: not recorded again. Taken over. */
    void (*again)(void *ctx, struct step_message *m);
    void (*missing)(void *ctx, const struct feed_gap *g);
    void *ctx;
};

struct reorder;

/* wait_ns: how long a message waits for those before it. */
int reorder_open(int64_t wait_ns, const struct reorder_handler *h,
                 struct reorder **ret_r);
/* Frees what still waits; call reorder_flush before. */
void reorder_close(struct reorder *r);
void reorder_add(struct reorder *r, struct step_message *m);
/* Ends the waits that began before now_ns - wait_ns, on the same clock. */
void reorder_tick(struct reorder *r, int64_t now_ns);
/* Ends all waits. */
void reorder_flush(struct reorder *r);

void step_message_free(struct step_message *m);

#endif
