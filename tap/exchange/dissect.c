/*
 * dissect.c - what is recorded of an exchange, beside its raw bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exchange/dissect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "http1/coding.h"
#include "store/sse.h"

enum {
    TARGET_MAX = 4096, /* of the record's key; the raw bytes have it whole */
    METHOD_MAX = 64
};

struct dissector {
    struct decoder *decoder;
    uint8_t *space; /* for each side a message in one piece, and its body */
    size_t max;
};

int dissector_open(size_t body_max, struct dissector **ret_d)
{
    struct dissector *d = calloc(1, sizeof *d);
    int err;

    if (d == NULL)
        return -ENOMEM;
    d->max = body_max;
    d->space = mmap(NULL, 4 * body_max, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (d->space == MAP_FAILED)
        d->space = NULL;
    err = d->space == NULL ? -ENOMEM : decoder_open(body_max, &d->decoder);
    if (err != 0) {
        dissector_close(d);
        return err;
    }
    *ret_d = d;
    return 0;
}

void dissector_close(struct dissector *d)
{
    if (d == NULL)
        return;
    decoder_close(d->decoder);
    if (d->space != NULL)
        (void)munmap(d->space, 4 * d->max); /* cannot fail */
    free(d);
}

/* The pieces of a body one after the other; a single one stays where it is. */
static struct span join(struct dissector *d, int i, struct span raw,
                        struct span map)
{
    uint8_t *out = d->space + (size_t)(2 * i + 1) * d->max;
    size_t n = 0, pieces = map.n / EXCHANGE_PIECE_BYTES;
    uint64_t offset;
    uint32_t len;
    int64_t time_ns;

    for (size_t k = 0; exchange_piece(map, k, &offset, &len, &time_ns); k++) {
        if (offset > raw.n || len > raw.n - offset || len > d->max - n)
            break; /* a message that outgrew its buffer ends early */
        if (pieces == 1)
            return span_of(raw.p + offset, len);
        memcpy(out + n, raw.p + offset, len);
        n += len;
    }
    return span_of(out, n);
}

static struct codings all_codings(const struct head *h)
{
    struct codings c = h->content;

    for (int i = 0; i < h->transfer.n; i++) {
        if (c.n == HEAD_CODINGS)
            c.of[HEAD_CODINGS - 1] = CODING_UNKNOWN;
        else
            c.of[c.n++] = h->transfer.of[i];
    }
    return c;
}

/* Fills one side; *ret_cause gets a fault of its coding. */
static struct span side(struct dissector *d, int i, const struct message *m,
                        struct exchange_side *ret_side, const char **ret_cause)
{
    struct codings c = all_codings(&m->head);
    struct span raw = message_bytes(m, d->space + (size_t)(2 * i) * d->max);
    struct span body = join(d, i, raw, buffer_span(&m->map)), decoded = {0};
    enum decoded r;

    *ret_side = (struct exchange_side){.raw = raw,
                                       .map = buffer_span(&m->map),
                                       .first_ns = m->first_ns,
                                       .last_ns = m->last_ns};
    if (c.n == 0 || body.n == 0)
        return body;
    r = decoder_undo(d->decoder, i, body, &c, &decoded);
    if (r == DECODED_TOO_LARGE)
        *ret_cause = "too_large";
    else if (r != DECODED_WHOLE && (r != DECODED_CUT || m->whole))
        *ret_cause = "coding";
    ret_side->body = decoded;
    return r > DECODED_CUT ? body : decoded;
}

static struct span clip(struct span s, size_t max)
{
    return span_of(s.p, s.n < max ? s.n : max);
}

static void summarise(struct dissection *out)
{
    struct exchange *x = &out->x;
    const char *api = dialect_find(x->method, x->target);

    memset(&out->summary, 0, sizeof out->summary);
    out->not_understood = NULL;
    if (api == NULL)
        return;
    x->api = span_str(api);
    if (dialect_summary(api, out->req_body, out->resp_body, x->streamed,
                        &out->summary) == PARSE_BAD)
        out->not_understood = api;
    x->model = span_str(out->summary.model);
    x->api_id = span_str(out->summary.id);
    x->events = out->summary.events;
    x->choices = out->summary.choices;
    x->tokens_in = out->summary.tokens_in;
    x->tokens_out = out->summary.tokens_out;
    if (out->summary.tokens_from != NULL)
        x->tokens_from = span_str(out->summary.tokens_from);
}

/* Whether the exchange is whole; *ret_cause if not, or NULL. Clients hang up
 * after a stream's last event, without reading the end of its framing: all of
 * the answer has come. */
static bool is_whole(const struct slot *slot, const struct dissection *out,
                     const char **ret_cause)
{
    if (slot_complete(slot, ret_cause))
        return true;
    if (*ret_cause == NULL || strcmp(*ret_cause, "client_cut") != 0 ||
        !slot->req.whole || out->x.gap_bytes != 0 || !out->x.streamed ||
        !sse_is_done(out->resp_body))
        return false;
    *ret_cause = NULL;
    return true;
}

void dissector_read(struct dissector *d, const struct slot *slot,
                    struct dissection *ret_dissection)
{
    struct exchange *x = &ret_dissection->x;
    const char *cause = NULL, *coding = NULL;

    memset(x, 0, sizeof *x);
    x->client = span_str(slot->client);
    x->server = span_str(slot->server);
    x->stream = slot->stream;
    x->index = slot->index;
    x->method = clip(slot_method(slot), METHOD_MAX);
    x->target = clip(slot_target(slot), TARGET_MAX);
    x->status = slot->resp.line_ok ? slot->resp.head.status : 0;
    x->gap_bytes = slot->req.gap_bytes + slot->resp.gap_bytes + slot->gap_bytes;
    x->streamed = slot->resp.head_ok && slot->resp.head.event_stream;
    ret_dissection->req_body = side(d, 0, &slot->req, &x->req, &coding);
    ret_dissection->resp_body = side(d, 1, &slot->resp, &x->resp, &coding);
    x->complete = is_whole(slot, ret_dissection, &cause) && coding == NULL;
    x->cause = cause != NULL    ? span_str(cause)
               : coding != NULL ? span_str(coding)
                                : span_of(NULL, 0);
    summarise(ret_dissection);
}
