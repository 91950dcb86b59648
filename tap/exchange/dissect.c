/*
 * shape.c - what is recorded of an exchange, beside its raw bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exchange/dissect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "http1/coding.h"

enum {
    TARGET_MAX = 4096, /* of the record's key; the raw bytes have it whole */
    METHOD_MAX = 64
};

struct shaper {
    struct decoder *decoder;
    uint8_t *space; /* for each side a message in one piece, and its body */
    size_t max;
};

int shaper_open(size_t body_max, struct shaper **ret_s)
{
    struct shaper *s = calloc(1, sizeof *s);
    int err;

    if (s == NULL)
        return -ENOMEM;
    s->max = body_max;
    s->space = mmap(NULL, 4 * body_max, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->space == MAP_FAILED)
        s->space = NULL;
    err = s->space == NULL ? -ENOMEM : decoder_open(body_max, &s->decoder);
    if (err != 0) {
        shaper_close(s);
        return err;
    }
    *ret_s = s;
    return 0;
}

void shaper_close(struct shaper *s)
{
    if (s == NULL)
        return;
    decoder_close(s->decoder);
    if (s->space != NULL)
        (void)munmap(s->space, 4 * s->max); /* cannot fail */
    free(s);
}

/* The pieces of a body one after the other; a single one stays where it is. */
static struct span join(struct shaper *s, int i, struct span raw,
                        struct span map)
{
    uint8_t *out = s->space + (size_t)(2 * i + 1) * s->max;
    size_t n = 0, pieces = map.n / EXCHANGE_PIECE_BYTES;
    uint64_t offset;
    uint32_t len;
    int64_t time_ns;

    for (size_t k = 0; exchange_piece(map, k, &offset, &len, &time_ns); k++) {
        if (offset > raw.n || len > raw.n - offset || len > s->max - n)
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
static struct span side(struct shaper *s, int i, const struct message *m,
                        struct exchange_side *ret_side, const char **ret_cause)
{
    struct codings c = all_codings(&m->head);
    struct span raw = message_bytes(m, s->space + (size_t)(2 * i) * s->max);
    struct span body = join(s, i, raw, buffer_span(&m->map)), decoded = {0};
    enum decoded r;

    *ret_side = (struct exchange_side){.raw = raw,
                                       .map = buffer_span(&m->map),
                                       .first_ns = m->first_ns,
                                       .last_ns = m->last_ns};
    if (c.n == 0 || body.n == 0)
        return body;
    r = decoder_undo(s->decoder, i, body, &c, &decoded);
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

static void summarise(struct shape *sh)
{
    struct exchange *x = &sh->x;
    const char *api = dialect_find(x->method, x->target);

    memset(&sh->summary, 0, sizeof sh->summary);
    sh->not_understood = NULL;
    if (api == NULL)
        return;
    x->api = span_str(api);
    if (dialect_summary(api, sh->req_body, sh->resp_body, x->streamed,
                        &sh->summary) == PARSE_BAD)
        sh->not_understood = api;
    x->model = span_str(sh->summary.model);
    x->api_id = span_str(sh->summary.id);
    x->events = sh->summary.events;
    x->choices = sh->summary.choices;
    x->tokens_in = sh->summary.tokens_in;
    x->tokens_out = sh->summary.tokens_out;
    if (sh->summary.tokens_from != NULL)
        x->tokens_from = span_str(sh->summary.tokens_from);
}

/* A stream's last event, after which clients hang up without reading the end of
 * its framing: all of the answer has come. */
static bool says_done(struct span body)
{
    static const char done[] = "data: [DONE]";
    size_t ends = 0;

    while (body.n > 0 &&
           (body.p[body.n - 1] == '\n' || body.p[body.n - 1] == '\r')) {
        ends += body.p[body.n - 1] == '\n';
        body.n--;
    }
    return ends >= 2 && body.n >= sizeof done &&
           body.p[body.n - sizeof done] == '\n' &&
           memcmp(body.p + body.n - (sizeof done - 1), done, sizeof done - 1) ==
               0;
}

/* Whether the exchange is whole; *ret_cause if not, or NULL. */
static bool is_whole(const struct slot *slot, const struct shape *sh,
                     const char **ret_cause)
{
    if (slot_complete(slot, ret_cause))
        return true;
    if (*ret_cause == NULL || strcmp(*ret_cause, "client_cut") != 0 ||
        !slot->req.whole || sh->x.gap_bytes != 0 || !sh->x.streamed ||
        !says_done(sh->resp_body))
        return false;
    *ret_cause = NULL;
    return true;
}

bool shape_is_feed(struct span method, struct span target)
{
    static const char path[] = "/assay/v1/steps";
    const uint8_t *query =
        target.n == 0 ? NULL : memchr(target.p, '?', target.n);
    size_t n = query == NULL ? target.n : (size_t)(query - target.p);

    return span_eq_str(method, "POST") && n >= sizeof path - 1 &&
           memcmp(target.p + n - (sizeof path - 1), path, sizeof path - 1) == 0;
}

void shaper_shape(struct shaper *s, const struct slot *slot,
                  struct shape *ret_shape)
{
    struct exchange *x = &ret_shape->x;
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
    ret_shape->req_body = side(s, 0, &slot->req, &x->req, &coding);
    ret_shape->resp_body = side(s, 1, &slot->resp, &x->resp, &coding);
    x->complete = is_whole(slot, ret_shape, &cause) && coding == NULL;
    x->cause = cause != NULL    ? span_str(cause)
               : coding != NULL ? span_str(coding)
                                : span_of(NULL, 0);
    ret_shape->feed = shape_is_feed(x->method, x->target);
    if (!ret_shape->feed)
        summarise(ret_shape);
}
