/*
 * work.h - what waits to be recorded: pieces of work, and lists of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_WORK_H
#define TAP_WORK_H

#include "exchange/exchange.h"
#include "feed/reorder.h"
#include "uplink/notice.h"

/* WORK_AGAIN: a message that came before; it is nothing to send, and over when
 * all that was queued before it is. */
enum work_kind { WORK_EXCHANGE, WORK_NOTICE, WORK_STEP, WORK_AGAIN };

struct work {
    struct work *next;
    enum work_kind kind;
    struct slot *slot;
    struct notice notice;
    struct step_message *step;
    size_t part; /* of the step, from 1 */
    size_t bytes;
    bool again; /* sent before, not acknowledged */
};

struct work_list {
    struct work *first, *last;
};

/* Zeroed; without memory the program ends, as nothing could be kept. */
struct work *work_new(enum work_kind kind);
void work_push(struct work_list *l, struct work *w);
/* The first, or NULL. */
struct work *work_pop(struct work_list *l);
/* All of `front` comes before all of l; `front` is empty then. */
void work_prepend(struct work_list *l, struct work_list *front);
/* Frees each, and the messages that no other piece needs; not the slots. */
void work_free_all(struct work_list *l);

#endif
