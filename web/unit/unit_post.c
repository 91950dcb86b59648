/*
 * unit_post.c - what the page may add to the record, through the store's
 * socket: a review event, and the opening of stored content. Every refusal
 * keeps what the user wrote. SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page/form.h"
#include "store/client.h"
#include "unit/unit.h"

enum { CONNECT_MS = 500, SEEN_MS = 2000, STEP_MS = 10 };

/* Answers with the unit's page again, an alert at its top. */
static int show_again(struct unit *u, int status, const char *alert)
{
    u->extra.alert = alert;
    unit_page(u);
    u->page->explained = true;
    u->page->private = true;
    return status;
}

static int refused(struct page *p, int err)
{
    p->why = err == -EPERM || err == -EACCES
                 ? "The store does not let the page add this."
             : err == -ENOSPC ? "The store's disk is full; nothing was added."
                              : "The store cannot be reached; nothing was "
                                "added.";
    return err == -EPERM || err == -EACCES ? 403 : 503;
}

/* The index lags the log by moments: waits until it shows leaf seq, so that
 * the next page holds what was just written. */
static void wait_for_index(struct page *p, uint64_t seq)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    for (int ms = 0; ms < SEEN_MS; ms += STEP_MS) {
        db_refresh(&p->db);
        if (db_u64(&p->db, "SELECT leaves FROM state", 0) > seq)
            return;
        (void)nanosleep(&step, NULL); /* woken early: looks earlier */
    }
}

static bool review_record(const struct unit *u, const struct review_event *e,
                          struct record *r)
{
    record_init(r);
    record_hex(r, "object", unit_hash(u));
    record_text(r, "actor", span_str(e->actor));
    record_text(r, "action", span_str(e->action));
    record_text(r, "disposition", span_str(e->disposition));
    record_hex(r, "base", span_of(u->review.base, sizeof u->review.base));
    record_text(r, "note", span_str(e->note));
    return !r->full;
}

static int put_review(struct unit *u, const struct review_event *e)
{
    struct page *p = u->page;
    struct store_client *c;
    struct record r;
    struct put put = {.kind = "review", .record = &r};
    struct put_ack ack;
    int err;

    if (!review_record(u, e, &r))
        return show_again(u, 422, "The note is too long for one record.");
    err = store_connect(p->site->run_dir, "web", CONNECT_MS, &c);
    if (err != 0)
        return refused(p, err);
    err = store_put(c, &put, &ack);
    store_close(c);
    if (err != 0)
        return refused(p, err);
    wait_for_index(p, ack.seq);
    (void)snprintf(p->location.s, sizeof p->location.s, "/m/%s#trail", p->id);
    return 303;
}

static int add_review(struct unit *u)
{
    const struct params *form = &u->page->request->form;
    struct review_event e = {
        .actor = page_actor(u->page),
        .action = param(form, "action"),
        .disposition = param(form, "disposition"),
        .note = param(form, "note"),
    };
    uint8_t base[32];
    const char *why;

    u->extra.note = e.note;
    u->extra.disposition = e.disposition;
    if (!page_parse_unit(param(form, "base"), base))
        return 400;
    if (memcmp(base, u->review.base, sizeof base) != 0)
        return show_again(u, 409,
                          "Somebody added to this case after you loaded it. "
                          "Your words are kept below: read the trail, then "
                          "send them again.");
    why = review_refusal(&u->review, &e);
    if (why != NULL)
        return show_again(u, 422, why);
    if (strcmp(e.action, "decide") != 0)
        e.disposition = "";
    return put_review(u, &e);
}

/* A radio button may be absent, a text may not be too long. */
static int with_unit(struct page *p, int (*act)(struct unit *u))
{
    struct unit u;
    int status = 404;

    p->why = form_refusal(p);
    if (p->why != NULL)
        return 403;
    if (unit_load(p, &u))
        status = act(&u);
    unit_close(&u);
    return status;
}

int post_review(struct page *p)
{
    return with_unit(p, add_review);
}

static int show_revealed(struct unit *u, struct span bytes)
{
    struct differences d;
    const char *why;
    int err = differences_read(bytes, &d, &why);

    if (err != 0)
        return show_again(u, 503, "The stored comparison cannot be read.");
    u->extra.differences = &d;
    u->page->private = true;
    unit_page(u);
    differences_free(&d);
    return 200;
}

static int reveal(struct unit *u)
{
    struct page *p = u->page;
    const char *reason = param(&p->request->form, "reason");
    struct store_client *c;
    struct span hash;
    uint8_t *bytes;
    size_t n;
    int err, status;

    if (!u->judged)
        return show_again(u, 422, "There is no verdict to look into yet.");
    if (*reason == '\0')
        return show_again(u, 422, "Opening stored content needs a reason.");
    hash = query_span(&u->verdict, V_UNIT);
    if (hash.n != 32)
        return 503;
    err = store_connect(p->site->run_dir, "web", CONNECT_MS, &c);
    if (err != 0)
        return refused(p, err);
    err = store_reveal(
        c, &(struct reveal){hash.p, "differences", page_actor(p), reason},
        &bytes, &n);
    store_close(c);
    if (err == -ENOENT)
        return show_again(u, 422, "Nothing is stored for this verdict.");
    if (err != 0)
        return refused(p, err);
    status = show_revealed(u, span_of(bytes, n));
    free(bytes);
    return status;
}

int post_reveal(struct page *p)
{
    if (!p->site->reveal) {
        p->why = "Opening stored content is switched off here (web.reveal).";
        return 403;
    }
    return with_unit(p, reveal);
}
