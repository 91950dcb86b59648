/*
 * pair.h - which answer belongs to which request of a connection.
 * Comes in: that a request, an answer or a loss begins, in the causal order
 * of tcp.h. Goes out: the slot in which the message is to be put.
 *
 * Answers come in the order of the requests, so the oldest unanswered request
 * is the one, as long as nothing was lost. A loss may hide whole messages:
 *   - lost requests stand in the queue as a marker; an answer that meets it
 *     has no request that we saw;
 *   - after lost answers the count is no longer known. A client that has not
 *     been seen to send a request before the last one was answered is taken
 *     to go on like that: then the newest request is the one being answered,
 *     and a new request shows that the older ones were answered unseen. Of a
 *     client that does pipeline no answer can be told apart any more.
 * What cannot be known stays apart as no_answer and no_request.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_PAIR_H
#define TAP_PAIR_H

#include "exchange/exchange.h"

enum { PAIR_UNANSWERED_MAX = 1024 };

struct pair {
    struct slot *first, *last; /* open slots, oldest first */
    size_t unanswered;         /* without an answer, markers included */
    uint64_t answers;          /* begun */
    uint64_t next_index;
    bool pipelines;
    bool answers_lost;
    uint64_t lost_bytes; /* of lost answers */
};

/*
 * Each returns a slot of the queue, or NULL if the pool is empty. Slots that
 * turn out never to be answered get cause and resp_done; the caller collects
 * all slots that are done with pair_take_done afterwards.
 */
struct slot *pair_request(struct pair *q, struct slot_pool *p);
struct slot *pair_answer(struct pair *q, struct slot_pool *p);
/* n: bytes missing, 0 if none but it is unknown what they meant. */
void pair_requests_lost(struct pair *q, struct slot_pool *p, uint64_t n);
void pair_answers_lost(struct pair *q, uint64_t n);

/* Unlinks the next slot with both sides done, or NULL. */
struct slot *pair_take_done(struct pair *q);
/* Unlinks and gives back the markers; at the end of a connection. */
void pair_drop_markers(struct pair *q, struct slot_pool *p);

#endif
