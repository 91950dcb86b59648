/*
 * findings.c - from reconciliation to records. Findings are gathered first and
 * written afterwards: writing while the index is being read would keep the
 * store from shrinking its WAL.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/array.h"
#include "sampler/reconcile.h"
#include "store/record.h"

/* The bodies of the findings that are not in the record, behind one another. */
struct gathered {
    struct writer *w;
    uint64_t epoch;
    char *text;
    size_t n, size;
    int err;
};

static int append(struct gathered *g, const struct record *r)
{
    char *text = array_grow(g->text, &g->size, g->n, sizeof r->n + r->n, 1);

    if (text == NULL)
        return -ENOMEM;
    g->text = text;
    memcpy(g->text + g->n, &r->n, sizeof r->n);
    memcpy(g->text + g->n + sizeof r->n, r->text, r->n);
    g->n += sizeof r->n + r->n;
    return 0;
}

static int write_finding(uint64_t epoch, const struct finding *f,
                         struct record *r)
{
    record_init(r);
    record_u64(r, "epoch", epoch);
    record_text(r, "class", span_str(f->class));
    record_hex(r, "object", span_of(f->object, sizeof f->object));
    record_text(r, "engine", span_str(f->engine));
    record_u64(r, "step", f->step);
    record_text(r, "request", span_str(f->request));
    record_u64(r, "expected", f->expected);
    record_u64(r, "seen", f->seen);
    record_text(r, "detail", span_str(f->detail));
    return r->full ? -EMSGSIZE : 0;
}

static void gather(void *context, const struct finding *f)
{
    struct gathered *g = context;
    struct record r;
    int err;

    if (g->err != 0)
        return;
    err = epochs_has_finding(g->w->epochs, g->epoch, f);
    if (err == -ENOENT) {
        err = write_finding(g->epoch, f, &r);
        if (err == 0)
            err = append(g, &r);
    }
    g->err = err;
}

static int send_all(struct gathered *g)
{
    size_t i = 0;
    int err = 0;

    while (err == 0 && i < g->n) {
        struct record r = {.full = false};

        memcpy(&r.n, g->text + i, sizeof r.n);
        memcpy(r.text, g->text + i + sizeof r.n, r.n);
        i += sizeof r.n + r.n;
        err = writer_send(g->w, "finding", &r);
    }
    return err == 0 && g->n > 0 ? writer_settle(g->w) : err;
}

int findings_record(struct writer *w, const struct findings_options *o,
                    struct epoch_close *range)
{
    enum { NS_PER_S = 1000000000 };
    const struct timespec settle = {o->settle_ns / NS_PER_S,
                                    o->settle_ns % NS_PER_S};
    struct gathered g = {.w = w, .epoch = range->epoch};
    const struct reconcile_options options = {o->feed_required, o->slack_ns,
                                              gather, &g};
    struct reconcile_counts counts;
    int err;

    (void)nanosleep(&settle, NULL); /* a signal only makes it shorter */
    err = reconcile_epoch(w->epochs->db, range->first, range->end, &options,
                          &counts);
    if (err == 0)
        err = g.err;
    if (err == 0)
        err = send_all(&g);
    if (err == 0)
        range->counts.no_feed = counts.no_feed;
    free(g.text);
    return err;
}
