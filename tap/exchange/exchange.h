/*
 * exchange.h - a request and its answer, being put together. From the bytes of
 * both directions of a connection to exchanges that can be recorded:
 *
 *     bytes, gaps, ends of a connection      (tcp/tcp.h)
 *        |
 *      conn ---- half of each direction      (http1/half.h)
 *        |            | head, end of a message, framing lost
 *        |<-----------+
 *        +------ pair: the slot of this request, or of this answer
 *        |
 *      slot, both sides done ---> handler ---> dissect: bodies, summary
 *
 * Life of a slot: taken from the pool when a request or an answer without one
 * begins (pair); its two messages are filled by the halves (conn); once both
 * are done, whole or not, it is handed to the caller, who keeps it while it is
 * recorded and gives it back with conn_recycle.
 *
 * conn sees pair and this header; dissect sees this header.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_EXCHANGE_H
#define TAP_EXCHANGE_H

#include "http1/message.h"
#include "tcp/tcp.h"

/* An exchange being put together, or a marker. */
struct slot {
    struct slot *next, *prev; /* of its queue; next also in other lists */
    const char *source;       /* what was captured; set when it is finished */
    uint64_t stream, index;
    char client[STREAM_ADDR_TEXT], server[STREAM_ADDR_TEXT];
    struct message req, resp;
    bool marker;            /* stands for requests that were lost */
    bool has_req, has_resp; /* one was begun */
    bool req_done, resp_done;
    uint64_t answers;   /* marker: answers begun when it was put */
    uint64_t gap_bytes; /* lost where a missing message was */
    const char *cause;  /* why a message is missing, or NULL */
};

/* Slots never used yet are taken from `all` in order, so that a large pool
 * costs no memory before it is needed. */
struct slot_pool {
    struct slot *all;
    size_t n, used;
    struct slot *free;
    uint64_t refused; /* times that it was empty */
};

int slot_pool_init(struct slot_pool *p, size_t n);
void slot_pool_fini(struct slot_pool *p);
/* All zero; NULL if the pool is empty. */
struct slot *slot_take(struct slot_pool *p);
/* Its messages hold no memory any more. */
void slot_give(struct slot_pool *p, struct slot *s);

/* Is the exchange whole on both sides? Else *ret_cause says why not. */
bool slot_complete(const struct slot *s, const char **ret_cause);
struct span slot_method(const struct slot *s);
struct span slot_target(const struct slot *s);

#endif
