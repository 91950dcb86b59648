/*
 * summary.c - the cheap form of an exchange, for the packet path. Comes in:
 * the decoded bodies. Goes out: model, id, counts and what they rest on. No
 * tree and no allocation, except for an event of several data lines; of a
 * stream only the first data event and the last ones are looked into.
 *
 * The APIs keep these facts under few names, so one walk serves them all:
 * usage in "usage", SGLang's "meta_info", llama.cpp's "timings" and
 * "tokens_*"; within "message" (Anthropic) and "response" (OpenAI responses)
 * once more.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "dialect/facts.h"
#include "store/dialect.h"
#include "store/sse.h"

enum { TAIL = 4 }; /* last data events looked into */

/* Where the data events of a stream stand. */
struct stream {
    size_t first;      /* offset of the first data event */
    size_t last[TAIL]; /* of the last ones, as a ring */
    uint64_t n;
};

static enum parse walk(struct span body, struct stream *ret_st)
{
    struct sse s = {.body = body};
    struct span data, name;
    struct stream st = {0};
    size_t offset = 0;
    enum parse r;

    while ((r = sse_next(&s, &data, &name)) == PARSE_OK) {
        if (sse_kind_of(data, name) != SSE_HEARTBEAT) {
            if (st.n == 0)
                st.first = offset;
            st.last[st.n++ % TAIL] = offset;
        }
        offset = s.offset;
    }
    sse_end(&s);
    *ret_st = st;
    return r == PARSE_BAD ? PARSE_BAD : PARSE_OK;
}

/* What the events that were looked into have to say beside their facts. */
struct ends {
    uint64_t empty; /* those that can carry no token */
    enum listing listing;
};

static void look(struct span body, size_t offset, struct facts *f,
                 struct ends *e)
{
    struct sse s = {.body = body, .offset = offset};
    struct span data, name;

    if (sse_next(&s, &data, &name) == PARSE_OK &&
        sse_kind_of(data, name) == SSE_MESSAGE) {
        facts_add(f, data);
        e->empty += !facts_event_has_token(data);
        if (e->listing == LIST_NONE)
            e->listing = facts_listing(data, f->echo);
    } else {
        e->empty++;
    }
    sse_end(&s);
}

static void look_at_ends(struct span body, const struct stream *st,
                         struct facts *f, struct ends *e)
{
    uint64_t from = st->n > TAIL ? st->n - TAIL : 0;

    if (from > 0)
        look(body, st->first, f, e);
    for (uint64_t i = from; i < st->n; i++)
        look(body, st->last[i % TAIL], f, e);
}

/* The server's numbers if they cover the whole answer, else what is listed in
 * it, else the events but those at the ends that can carry no token. */
static void count(struct span resp, const struct facts *f, const struct ends *e,
                  struct api_summary *s)
{
    uint64_t listed;

    if (f->has_in && f->has_out && !facts_are_partial(f)) {
        s->tokens_in = f->in;
        s->tokens_out = f->out;
        s->tokens_from = "usage";
        return;
    }
    s->tokens_in = s->choices > 1 ? 0 : f->prompt_ids;
    listed = facts_listed_tokens(resp, e->listing);
    if (listed != 0) {
        s->tokens_out = listed + f->unlisted;
        s->tokens_from = "tokens";
    } else if (s->events > e->empty) {
        s->tokens_out = s->events - e->empty;
        s->tokens_from = "events";
    }
}

enum parse dialect_summary(const char *api, struct span req, struct span resp,
                           bool streamed, struct api_summary *ret_s)
{
    struct facts f = {.model = ""};
    struct stream st = {0};
    struct ends ends = {0, LIST_NONE};
    enum parse r = PARSE_OK;

    _Static_assert(sizeof f.model == sizeof ret_s->model &&
                       sizeof f.id == sizeof ret_s->id,
                   "the names fit");
    (void)api; /* the facts have the same names everywhere */
    memset(ret_s, 0, sizeof *ret_s);
    ret_s->tokens_from = "-";
    if (!facts_request(&f, req))
        r = PARSE_BAD;
    ret_s->streamed = f.streamed;
    ret_s->choices = facts_choices(&f);
    if (resp.n != 0 && streamed) {
        if (walk(resp, &st) != PARSE_OK)
            return PARSE_BAD;
        look_at_ends(resp, &st, &f, &ends);
    } else if (resp.n != 0) {
        if (!facts_add(&f, resp))
            r = PARSE_BAD;
        if (!f.has_out || facts_are_partial(&f))
            ends.listing = facts_listing(resp, f.echo);
    }
    ret_s->events = st.n;
    ret_s->failed = f.failed;
    memcpy(ret_s->model, f.model, sizeof ret_s->model);
    memcpy(ret_s->id, f.id, sizeof ret_s->id);
    if (resp.n != 0 && !f.failed)
        count(resp, &f, &ends, ret_s);
    return r;
}
