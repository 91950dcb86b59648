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

#include "facts.h"
#include "store/dialect.h"

enum { TAIL = 4 }; /* last data events looked into */

/* Where the data events of a stream stand. */
struct stream {
    size_t first;      /* offset of the first data event */
    size_t last[TAIL]; /* of the last ones, as a ring */
    uint64_t n;
};

/* Cut to fit; an escape in the text stays as it is written. */
static void copy_text(char *out, size_t size, struct span text)
{
    size_t n = text.n < size ? text.n : size - 1;

    if (n != 0)
        memcpy(out, text.p, n);
    out[n] = '\0';
}

static enum parse walk(struct span body, struct stream *ret_st)
{
    struct sse s = {.body = body};
    struct span data, name;
    struct stream st = {0};
    size_t offset = 0;
    enum parse r;

    while ((r = sse_next(&s, &data, &name)) == PARSE_OK) {
        if (st.n == 0)
            st.first = offset;
        st.last[st.n++ % TAIL] = offset;
        offset = s.offset;
    }
    sse_end(&s);
    *ret_st = st;
    return r == PARSE_BAD ? PARSE_BAD : PARSE_OK;
}

/* Looks into the event at offset: its facts, and whether it can carry a
 * token. */
static bool look(struct span body, size_t offset, struct facts *f)
{
    struct sse s = {.body = body, .offset = offset};
    struct span data, name;
    bool token = false;

    if (sse_next(&s, &data, &name) == PARSE_OK) {
        facts_add(f, data);
        token = facts_event_has_token(data);
    }
    sse_end(&s);
    return token;
}

/* The events that may carry a token: all but those at the ends that do not. */
static void read_stream(struct span body, const struct stream *st,
                        struct facts *f, uint64_t *ret_estimate)
{
    uint64_t from = st->n > TAIL ? st->n - TAIL : 0, empty = 0;

    if (st->n == 0)
        return;
    if (from > 0 && !look(body, st->first, f))
        empty++;
    for (uint64_t i = from; i < st->n; i++)
        if (!look(body, st->last[i % TAIL], f))
            empty++;
    *ret_estimate = st->n - empty;
}

/* The server's numbers if they cover the whole answer, else what is listed in
 * it, else the events. */
static void count(struct span resp, const struct facts *f, uint64_t estimate,
                  struct api_summary *s)
{
    uint64_t listed;

    s->tokens_from = "-";
    if (f->has_in && f->has_out && !facts_are_partial(f)) {
        s->tokens_in = f->in;
        s->tokens_out = f->out;
        s->tokens_from = "usage";
        return;
    }
    s->tokens_in = s->choices > 1 ? 0 : f->prompt_ids;
    listed = facts_listed_tokens(resp, f->echo);
    if (listed != 0) {
        s->tokens_out = listed + f->unlisted;
        s->tokens_from = "tokens";
    } else if (estimate != 0) {
        s->tokens_out = estimate;
        s->tokens_from = "events";
    }
}

enum parse dialect_summary(const char *api, struct span req, struct span resp,
                           bool streamed, struct api_summary *ret_s)
{
    struct facts f = {0};
    struct stream st = {0};
    uint64_t estimate = 0;
    enum parse r = PARSE_OK;

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
        read_stream(resp, &st, &f, &estimate);
    } else if (resp.n != 0 && !facts_add(&f, resp)) {
        r = PARSE_BAD;
    }
    ret_s->events = st.n;
    ret_s->failed = f.failed;
    copy_text(ret_s->model, sizeof ret_s->model, f.model);
    copy_text(ret_s->id, sizeof ret_s->id, f.id);
    if (resp.n != 0 && !f.failed)
        count(resp, &f, estimate, ret_s);
    return r;
}
