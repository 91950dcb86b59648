/*
 * half.c - from the bytes of one direction to messages.
 * Each byte goes one of three ways: into a message, away as an empty line
 * between messages, or into a run of stray bytes that is reported.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http1/half.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/prefetch.h"
#include "store/exchange.h"

enum { JUDGE_MIN = 3 /* bytes needed to say that it is not HTTP */ };

void half_init(struct half *h, bool start_seen, bool client, void *owner)
{
    memset(h, 0, sizeof *h);
    h->opening = start_seen && client;
    h->lost = !start_seen;
    h->owner = owner;
    http1_init(&h->http);
}

void half_fini(struct half_pool *p, struct half *h)
{
    message_release(&p->messages, &h->first);
    buffer_release(&p->messages.memory, &h->stray.sample);
}

/* ---- bytes of no message */

void half_tell_stray(struct half_pool *p, struct half *h)
{
    if (h->stray.bytes == 0)
        return;
    p->tell_stray(h);
    buffer_release(&p->messages.memory, &h->stray.sample);
    h->stray.told = true;
    h->stray.bytes = 0;
}

static void stray_end(struct half_pool *p, struct half *h)
{
    half_tell_stray(p, h);
    memset(&h->stray, 0, sizeof h->stray);
}

static void stray_add(struct half_pool *p, struct half *h, const char *cause,
                      struct span bytes, int64_t time_ns)
{
    struct stray *s = &h->stray;
    size_t room;

    if (s->cause != NULL && strcmp(s->cause, cause) != 0)
        stray_end(p, h);
    if (s->bytes == 0)
        s->from_ns = time_ns;
    s->cause = cause;
    s->to_ns = time_ns;
    s->bytes += bytes.n;
    p->stray_bytes += bytes.n;
    room =
        s->told || s->sample.n > STRAY_SAMPLE ? 0 : STRAY_SAMPLE - s->sample.n;
    /* Without room the run is counted without a sample. */
    (void)buffer_append(&p->messages.memory, &s->sample, bytes.p,
                        bytes.n < room ? bytes.n : room);
}

/* Why bytes where a start line should be are none. */
static const char *stray_cause(const struct half *h, struct span begin)
{
    if (h->any)
        return "framing";
    if (begin.n >= 2 && begin.p[0] >= 0x14 && begin.p[0] <= 0x17 &&
        begin.p[1] == 3)
        return "tls";
    if (begin.n >= 14 && memcmp(begin.p, "PRI * HTTP/2.0", 14) == 0)
        return "http2";
    if (h->stray.cause != NULL)
        return h->stray.cause;
    return h->lost ? "framing" : "not_http";
}

/* ---- looking for a start line */

static struct span line_begin(const struct message *m)
{
    return span_of(m->raw.p + m->head_at, m->raw.n - m->head_at);
}

static bool plausible(const struct half *h, struct span s)
{
    return (h->role != HALF_RESPONSES && head_plausible(s, HEAD_REQUEST)) ||
           (h->role != HALF_REQUESTS && head_plausible(s, HEAD_RESPONSE));
}

/* The line at the end of m is a start line of the role, or decides it. */
static bool accept_line(struct half *h, struct message *m)
{
    struct span s = line_begin(m);
    bool may_ask = h->role != HALF_RESPONSES;
    bool may_answer = h->role != HALF_REQUESTS;

    if (may_answer && head_start_line(s, HEAD_RESPONSE))
        h->role = HALF_RESPONSES;
    else if (may_ask && (head_start_line(s, HEAD_REQUEST) ||
                         (!h->lost && head_broken_request(s))))
        h->role = HALF_REQUESTS;
    else
        return false;
    m->line_ok = true;
    return true;
}

/* What was collected since head_at is no head of a message. */
static enum half_event refuse(struct half_pool *p, struct half *h,
                              bool line_ended, int64_t time_ns)
{
    struct message *m = h->now;
    struct span begin = line_begin(m);
    const char *cause = stray_cause(h, begin);
    bool was_lost = h->lost, binary = !line_ended && !h->any && !was_lost;

    http1_init(&h->http);
    stray_add(p, h, cause, begin, time_ns);
    h->stray.bytes += m->new_bytes - begin.n; /* those not kept */
    p->stray_bytes += m->new_bytes - begin.n;
    m->bytes -= m->new_bytes;
    m->new_bytes = 0;
    m->raw.n = m->head_at;
    h->astray |= !was_lost;
    h->lost = true;
    h->skipping = !line_ended;
    if (m == &h->first) {
        message_release(&p->messages, m);
        h->now = NULL;
    } else {
        message_fault(m, "framing"); /* interim answer without a final one */
    }
    if (binary || strcmp(cause, "http2") == 0)
        h->foreign = cause;
    return was_lost ? HALF_MORE : HALF_LOST;
}

/* Lost and within a line that is none: up to its end. */
static void skip_line(struct half_pool *p, struct half *h, struct span *in,
                      int64_t time_ns)
{
    const uint8_t *lf = memchr(in->p, '\n', in->n);
    size_t n = lf == NULL ? in->n : (size_t)(lf - in->p) + 1;

    stray_add(p, h, stray_cause(h, span_of(in->p, 0)), span_of(in->p, n),
              time_ns);
    h->skipping = lf == NULL;
    *in = span_of(in->p + n, in->n - n);
    h->offset += n;
}

static void message_begin(struct half *h, int64_t time_ns)
{
    if (h->now == NULL) {
        assert(!h->first.begun);
        h->now = &h->first;
    }
    if (h->now->begun)
        return;
    h->now->begun = true;
    h->now->from = h->offset;
    h->now->first_ns = time_ns;
}

/* ---- bytes of a message */

static void message_add(struct half_pool *p, struct half *h, struct span bytes,
                        int64_t time_ns)
{
    struct message *m = h->now;

    if (h->offset < h->doubt_to && h->offset + bytes.n > h->doubt_from)
        message_fault(m, "conflict");
    m->bytes += bytes.n;
    m->new_bytes += bytes.n;
    h->offset += bytes.n;
    m->to = h->offset;
    m->last_ns = time_ns;
    message_append(&p->messages, m, bytes);
}

static enum half_event cut_off(struct half *h, const char *cause)
{
    message_fault(h->now, cause);
    half_lose(h);
    return HALF_LOST;
}

static enum half_event head_done(struct half_pool *p, struct half *h,
                                 int64_t time_ns)
{
    struct message *m = h->now;
    enum head_side side =
        h->role == HALF_REQUESTS ? HEAD_REQUEST : HEAD_RESPONSE;

    head_parse(line_begin(m), side, &m->head);
    /* After a loss only a head beyond doubt ends the search. */
    if (h->lost && m->head.broken)
        return refuse(p, h, true, time_ns);
    /* What stands before an answer may be another one to its recipient. */
    if ((h->astray && side == HEAD_RESPONSE) || (h->http.lax && !h->lost))
        message_fault(m, "framing");
    h->lost = h->skipping = h->astray = false;
    h->any = true;
    m->head_ok = true;
    stray_end(p, h);
    return HALF_HEAD;
}

/* A step within start line and fields: these bytes are looked at again, so
 * they are kept one step at a time. */
static enum half_event take_head(struct half_pool *p, struct half *h,
                                 struct span *in, int64_t time_ns)
{
    struct http1_piece piece;
    enum http1_step step = http1_next(&h->http, *in, &piece);
    bool in_line = h->http.state == HTTP1_START;
    struct span bytes = span_of(in->p, piece.n);
    struct span begin;

    *in = span_of(in->p + piece.n, in->n - piece.n);
    if (piece.kind == HTTP1_BLANK) {
        h->offset += piece.n;
        if (h->lost)
            stray_add(p, h, stray_cause(h, span_of(bytes.p, 0)), bytes,
                      time_ns);
        else
            p->attributed_bytes += piece.n;
        return HALF_MORE;
    }
    message_begin(h, time_ns);
    message_add(p, h, bytes, time_ns);
    if (h->now->full) /* no head without room to look at it */
        return h->now->line_ok && !h->lost ? cut_off(h, "too_large")
                                           : refuse(p, h, false, time_ns);
    begin = line_begin(h->now);
    if (step == HTTP1_LINE)
        return accept_line(h, h->now) ? HALF_MORE : refuse(p, h, true, time_ns);
    if (step == HTTP1_TOO_LONG)
        return h->now->line_ok && !h->lost
                   ? cut_off(h, "too_large")
                   : refuse(p, h, bytes.p[bytes.n - 1] == '\n', time_ns);
    if (step == HTTP1_HEAD)
        return head_done(p, h, time_ns);
    if (in_line && begin.n >= JUDGE_MIN && !plausible(h, begin))
        return refuse(p, h, false, time_ns);
    return HALF_MORE;
}

/* Body, chunk framing and trailers: kept in one go. */
static enum half_event take_body(struct half_pool *p, struct half *h,
                                 struct span *in, int64_t time_ns)
{
    struct message *m = h->now;
    enum http1_step step = HTTP1_MORE;
    size_t used = 0;

    assert(m != NULL);
    while (used < in->n && step == HTTP1_MORE) {
        struct http1_piece piece;

        step =
            http1_next(&h->http, span_of(in->p + used, in->n - used), &piece);
        if (piece.kind == HTTP1_CONTENT && piece.n > 0 && !m->full &&
            !message_piece(&p->messages, m, message_kept(m) + used, piece.n,
                           time_ns))
            message_overflow(&p->messages, m, in->n);
        used += piece.n;
    }
    message_add(p, h, span_of(in->p, used), time_ns);
    *in = span_of(in->p + used, in->n - used);
    if (h->http.lax)
        message_fault(m, "framing");
    h->http.lax = false;
    if (step == HTTP1_MORE)
        return HALF_MORE;
    if (step != HTTP1_END)
        return cut_off(h, step == HTTP1_BROKEN ? "framing" : "too_large");
    m->whole = true;
    return HALF_END;
}

static enum half_event take_step(struct half_pool *p, struct half *h,
                                 struct span *in, int64_t time_ns)
{
    if (h->foreign != NULL) {
        stray_add(p, h, h->foreign, *in, time_ns);
        h->offset += in->n;
        *in = span_of(in->p + in->n, 0);
        return HALF_MORE;
    }
    if (h->lost && h->skipping) {
        skip_line(p, h, in, time_ns);
        return HALF_MORE;
    }
    if (h->http.state == HTTP1_START || h->http.state == HTTP1_FIELDS)
        return take_head(p, h, in, time_ns);
    return take_body(p, h, in, time_ns);
}

/* What came so far is a header of the PROXY protocol; or it is not, and is
 * looked at as all other bytes. It is too short for any event but HALF_LOST. */
static enum half_event end_opening(struct half_pool *p, struct half *h)
{
    struct span held = span_of(h->proxy.held, h->proxy.held_n);
    enum half_event ev = HALF_MORE;

    h->opening = false;
    if (h->proxy.sure) {
        p->attributed_bytes += h->proxy.taken;
        h->offset += h->proxy.taken;
        return HALF_MORE;
    }
    while (held.n > 0)
        if (take_step(p, h, &held, h->opening_ns) != HALF_MORE)
            ev = HALF_LOST;
    return ev;
}

static enum half_event take_opening(struct half_pool *p, struct half *h,
                                    struct span *in, int64_t time_ns)
{
    enum proxy_step step;
    size_t n;

    if (h->proxy.held_n == 0)
        h->opening_ns = time_ns;
    step = proxy_next(&h->proxy, *in, &n);
    *in = span_of(in->p + n, in->n - n);
    return step == PROXY_MORE ? HALF_MORE : end_opening(p, h);
}

/* Lost, and a segment begins: a start line may, too. What came before and can
 * be none, such as the one byte of a keep-alive probe, is not joined to it. */
static void begin_segment(struct half_pool *p, struct half *h)
{
    if (http1_idle(&h->http))
        h->skipping = false;
    else if (h->http.state == HTTP1_START && h->now != NULL &&
             !plausible(h, line_begin(h->now)))
        (void)refuse(p, h, true, h->now->last_ns);
}

enum half_event half_take(struct half_pool *p, struct half *h, struct span *in,
                          bool segment, int64_t time_ns)
{
    enum half_event ev = HALF_MORE;

    h->heard = true;
    if (segment && h->lost)
        begin_segment(p, h);
    while (in->n > 0 && ev == HALF_MORE)
        ev = h->opening ? take_opening(p, h, in, time_ns)
                        : take_step(p, h, in, time_ns);
    return ev;
}

void half_prefetch(const struct half *h, int step)
{
    const struct message *m = step == 0 ? NULL : h->now;

    if (step == 0)
        prefetch(h, offsetof(struct half, stray));
    else if (m != NULL && step == 1)
        prefetch(m, offsetof(struct message, from));
    else if (m != NULL)
        message_prefetch(m);
}

/* Cut off in its head, m is a message all the same: its start line is one, as
 * far as it goes, and stands where one had to be, or nothing was seen before.
 */
static bool is_begun(struct half *h, struct message *m)
{
    if (h->lost && (h->any || m->from != 0))
        return false;
    return m->line_ok || accept_line(h, m);
}

enum half_event half_gap(struct half_pool *p, struct half *h, uint64_t n)
{
    enum half_event ev = h->opening ? end_opening(p, h) : HALF_MORE;
    enum http1_step step;

    h->offset += n;
    if (h->foreign != NULL)
        return ev;
    if (h->now != NULL && !is_begun(h, h->now)) {
        h->lost = true; /* a candidate that cannot be judged any more */
        (void)refuse(p, h, false, h->now->last_ns);
    } else if (h->now != NULL) {
        h->now->gap_bytes += n;
        message_fault(h->now, "gap");
        step = http1_gap(&h->http, n);
        if (step != HTTP1_BROKEN)
            return step == HTTP1_END ? HALF_END : HALF_MORE;
    }
    h->lost = true;
    h->skipping = true;
    return HALF_LOST; /* again, if so: it may have hidden more messages */
}

void half_doubt(struct half *h, uint64_t from, uint64_t to)
{
    if (h->doubt_to <= h->offset) {
        h->doubt_from = from;
        h->doubt_to = to;
        return;
    }
    h->doubt_from = from < h->doubt_from ? from : h->doubt_from;
    h->doubt_to = to > h->doubt_to ? to : h->doubt_to;
}

enum half_event half_end(struct half_pool *p, struct half *h, bool closed)
{
    struct message *m;

    if (h->opening)
        (void)end_opening(p, h); /* nothing comes that could be lost */
    m = h->now;
    if (m == NULL || h->foreign != NULL)
        return HALF_MORE;
    if (m == &h->first && !is_begun(h, m)) {
        (void)refuse(p, h, true, m->last_ns);
        return HALF_MORE;
    }
    m->whole = closed && http1_ends_at_close(&h->http);
    half_lose(h); /* should anything come after all */
    return m->whole ? HALF_END : HALF_LOST;
}

/* ---- what the caller decides */

void half_attach(struct half *h, struct message *to)
{
    if (h->now == to)
        return;
    assert(h->now == &h->first);
    *to = h->first;
    memset(&h->first, 0, sizeof h->first);
    h->now = to;
}

bool half_body(struct half *h, enum http1_framing f)
{
    if (h->now->head.broken)
        message_fault(h->now, "framing");
    if (!http1_body(&h->http, f, h->now->head.length))
        return false;
    h->now->whole = true;
    return true;
}

void half_lose(struct half *h)
{
    http1_init(&h->http);
    h->lost = h->skipping = true;
}

void half_interim(struct half *h)
{
    http1_init(&h->http);
    h->now->head_at = (uint32_t)h->now->raw.n;
    h->now->new_bytes = 0;
    h->now->interim++;
    h->now->line_ok = h->now->head_ok = false;
}

void half_turn_foreign(struct half_pool *p, struct half *h, const char *cause)
{
    assert(h->now == NULL || h->now == &h->first);
    if (h->opening)
        (void)end_opening(p, h);
    if (h->now != NULL)
        (void)refuse(p, h, true, h->now->last_ns);
    h->foreign = cause;
}

void half_detach(struct half *h)
{
    h->now = NULL;
}
