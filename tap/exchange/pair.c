/*
 * pair.c - the queue of a connection's requests and their answers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exchange/pair.h"

/* A new slot at the end of the queue. */
static struct slot *append(struct pair *q, struct slot_pool *p)
{
    struct slot *s = slot_take(p);

    if (s == NULL)
        return NULL;
    s->prev = q->last;
    if (q->last != NULL)
        q->last->next = s;
    else
        q->first = s;
    q->last = s;
    return s;
}

static void unlink_slot(struct pair *q, struct slot *s)
{
    if (s->prev != NULL)
        s->prev->next = s->next;
    else
        q->first = s->next;
    if (s->next != NULL)
        s->next->prev = s->prev;
    else
        q->last = s->prev;
    s->next = s->prev = NULL;
}

static struct slot *oldest_unanswered(const struct pair *q)
{
    struct slot *s = q->unanswered == 0 ? NULL : q->first;

    while (s != NULL && s->has_resp)
        s = s->next;
    return s;
}

static struct slot *newest_unanswered(const struct pair *q)
{
    struct slot *s = q->unanswered == 0 ? NULL : q->last;

    while (s != NULL && s->has_resp)
        s = s->prev;
    return s;
}

/* It was answered unseen, or never. */
static void give_up(struct pair *q, struct slot_pool *p, struct slot *s)
{
    q->unanswered--;
    if (s->marker) {
        unlink_slot(q, s);
        slot_give(p, s);
        return;
    }
    s->has_resp = s->resp_done = true;
    s->cause = "no_answer";
    s->gap_bytes = q->lost_bytes;
    q->lost_bytes = 0;
}

/* Gives up all unanswered slots older than `keep`. */
static void give_up_before(struct pair *q, struct slot_pool *p,
                           const struct slot *keep)
{
    struct slot *next;

    for (struct slot *s = q->first; s != keep; s = next) {
        next = s->next;
        if (!s->has_resp)
            give_up(q, p, s);
    }
}

/* Everything unanswered is to be answered yet, in order. */
static void in_step(struct pair *q)
{
    q->answers_lost = false;
    q->lost_bytes = 0;
}

/* A request begins while older ones are unanswered: what does it tell? */
static void request_after(struct pair *q, struct slot_pool *p, struct slot *u)
{
    if (q->pipelines)
        return;
    if (q->answers_lost) {
        give_up_before(q, p, NULL);
        in_step(q);
    } else if (u->marker && (u->answers != q->answers || u->gap_bytes == 0)) {
        /* answered by now, or only text that was no request */
        give_up_before(q, p, NULL);
    } else {
        q->pipelines = true;
    }
}

struct slot *pair_request(struct pair *q, struct slot_pool *p)
{
    struct slot *u = oldest_unanswered(q), *s;

    if (u == NULL)
        in_step(q);
    else
        request_after(q, p, u);
    if (q->unanswered >= PAIR_UNANSWERED_MAX) {
        give_up(q, p, oldest_unanswered(q));
        q->answers_lost = true;
    }
    s = append(q, p);
    if (s == NULL)
        return NULL;
    s->has_req = true;
    s->index = q->next_index++;
    q->unanswered++;
    return s;
}

static struct slot *orphan(struct pair *q, struct slot_pool *p,
                           const struct slot *marker)
{
    struct slot *s = append(q, p);

    if (s == NULL)
        return NULL;
    s->has_resp = s->req_done = true;
    s->cause = "no_request";
    s->index = q->next_index++;
    s->gap_bytes = marker == NULL ? 0 : marker->gap_bytes;
    return s;
}

struct slot *pair_answer(struct pair *q, struct slot_pool *p)
{
    struct slot *u;

    q->answers++;
    if (q->answers_lost && q->pipelines)
        return orphan(q, p, NULL);
    if (q->answers_lost) {
        u = newest_unanswered(q);
        give_up_before(q, p, u);
        in_step(q);
    } else {
        u = oldest_unanswered(q);
    }
    if (u == NULL || u->marker)
        return orphan(q, p, u);
    u->has_resp = true;
    q->unanswered--;
    return u;
}

void pair_requests_lost(struct pair *q, struct slot_pool *p, uint64_t n)
{
    struct slot *s = q->last;

    if (s == NULL || !s->marker) {
        s = append(q, p);
        if (s == NULL)
            return;
        s->marker = true;
        q->unanswered++;
    }
    s->answers = q->answers;
    s->gap_bytes += n;
}

void pair_answers_lost(struct pair *q, uint64_t n)
{
    /* With nothing to be answered it may still be the answer of a request
     * that was lost as well and is told later. */
    q->answers_lost = true;
    q->lost_bytes += n;
}

struct slot *pair_take_done(struct pair *q)
{
    for (struct slot *s = q->first; s != NULL; s = s->next) {
        if (!s->marker && s->req_done && s->resp_done) {
            unlink_slot(q, s);
            return s;
        }
    }
    return NULL;
}

void pair_drop_markers(struct pair *q, struct slot_pool *p)
{
    struct slot *next;

    for (struct slot *s = q->first; s != NULL; s = next) {
        next = s->next;
        if (s->marker)
            give_up(q, p, s);
    }
}
