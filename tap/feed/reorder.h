/*
 * order.h - the messages of batch feeds in the order of their numbers.
 * Comes in: messages as they arrive, from the wire or the listener, perhaps
 * late, twice or not at all. Goes out: each message once, in order as far as a
 * short wait allows, and the numbers that never came.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_REORDER_H
#define TAP_REORDER_H

#include "feed/batch_step.h"

struct post;

/* A message on its way; order_* own it from order_add on. */
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

struct order_handler {
    /* Takes the message over. */
    void (*step)(void *ctx, struct step_message *m);
    /* It has come before, byte for byte: not recorded again. Taken over. */
    void (*again)(void *ctx, struct step_message *m);
    /* n messages of this feed, up to the number before, did not come. */
    void (*missing)(void *ctx, struct span engine, struct span feed, uint64_t n,
                    int64_t from_ns, int64_t to_ns);
    void *ctx;
};

struct order;

/* wait_ns: how long a message waits for those before it. */
int order_open(int64_t wait_ns, const struct order_handler *h,
               struct order **ret_o);
/* Frees what still waits; call order_flush before. */
void order_close(struct order *o);
void order_add(struct order *o, struct step_message *m);
/* Ends the waits that began before now_ns - wait_ns, on the same clock. */
void order_tick(struct order *o, int64_t now_ns);
/* Ends all waits. */
void order_flush(struct order *o);

void step_message_free(struct step_message *m);

#endif
