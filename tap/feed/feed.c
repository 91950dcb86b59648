/*
 * feed.c - POSTs of the batch feed to messages in order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/sha256.h"

struct feed {
    struct feed_handler handler;
    struct reorder *reorder;
    int64_t now_ns; /* on a clock that does not step */
};

bool feed_is_post(struct span method, struct span target)
{
    static const char path[] = "/assay/v1/steps";
    const uint8_t *query =
        target.n == 0 ? NULL : memchr(target.p, '?', target.n);
    size_t n = query == NULL ? target.n : (size_t)(query - target.p);

    return span_eq_str(method, "POST") && n >= sizeof path - 1 &&
           memcmp(target.p + n - (sizeof path - 1), path, sizeof path - 1) == 0;
}

int feed_open(int64_t wait_ns, const struct feed_handler *h,
              struct feed **ret_f)
{
    struct feed *f = calloc(1, sizeof *f);
    int err;

    if (f == NULL)
        return -ENOMEM;
    f->handler = *h;
    err = reorder_open(wait_ns, &h->in_order, &f->reorder);
    if (err != 0) {
        feed_close(f);
        return err;
    }
    *ret_f = f;
    return 0;
}

void feed_close(struct feed *f)
{
    if (f == NULL)
        return;
    reorder_close(f->reorder);
    free(f);
}

void feed_tick(struct feed *f, int64_t now_ns)
{
    f->now_ns = now_ns;
    reorder_tick(f->reorder, now_ns);
}

void feed_flush(struct feed *f, int64_t now_ns)
{
    f->now_ns = now_ns;
    reorder_flush(f->reorder);
}

static void take_line(struct feed *f, struct post *p, struct span line,
                      int64_t time_ns)
{
    struct step_message *m = malloc(sizeof *m + line.n);
    const char *why = "out of memory";

    if (m != NULL) {
        memset(m, 0, sizeof *m);
        m->post = p;
        m->time_ns = time_ns;
        m->arrived_ns = f->now_ns;
        m->n = line.n;
        memcpy(m->text, line.p, line.n);
        sha256(line, m->digest);
        if (batch_step_read(span_of(m->text, m->n), &m->step, &why) ==
            PARSE_OK) {
            if (p != NULL)
                p->left++;
            reorder_add(f->reorder, m);
            return;
        }
    }
    step_message_free(m);
    f->handler.bad(f->handler.in_order.ctx, line, time_ns, why);
    if (p != NULL)
        p->bad++;
}

/* Lines of NDJSON; empty ones are nothing. */
static void take_lines(struct feed *f, struct post *p, struct span body,
                       int64_t time_ns)
{
    while (body.n > 0) {
        const uint8_t *lf = memchr(body.p, '\n', body.n);
        size_t n = lf == NULL ? body.n : (size_t)(lf - body.p);
        struct span line = span_of(body.p, n);

        if (line.n > 0 && line.p[line.n - 1] == '\r')
            line.n--;
        if (line.n > 0)
            take_line(f, p, line, time_ns);
        n += lf != NULL;
        body = span_of(body.p + n, body.n - n);
    }
}

void feed_take(struct feed *f, struct post *p, struct span body,
               int64_t time_ns)
{
    /* Held, so that it is not over before its last line is looked at. */
    if (p != NULL)
        p->left++;
    take_lines(f, p, body, time_ns);
    if (p != NULL)
        p->left--;
}

void feed_message_over(struct step_message *m, bool durable)
{
    if (m->post != NULL && !durable)
        m->post->lost = true;
    if (--m->parts_left > 0)
        return;
    if (m->post != NULL)
        m->post->left--;
    step_message_free(m);
}
