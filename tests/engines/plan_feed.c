/*
 * plan_feed.c - plans to messages: plan_feed.h. First whose each token is, for
 * a message needs a prompt that later ones may still compute; then the text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plan_feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "engine/llama/schedule/schedule.h"

/* Token ids by position. */
struct line {
    uint32_t *ids;
    size_t n, size;
};

/* What a slot does for one answer. */
struct request {
    size_t id; /* of the first choice: its own number */
    uint32_t choice, slot;
    uint32_t choices; /* of a first one: how many there are of it */
    struct line prompt;
    bool prompt_known;
    bool told;
};

struct slot {
    struct line line;
    size_t request; /* SIZE_MAX: the next token begins one */
};

struct saved {
    uint32_t id;
    struct line line;
};

struct walk {
    struct slot slots[LLAMA_SEQUENCES];
    struct saved *saved;
    size_t n_saved, saved_size;
    struct request *requests;
    size_t n_requests, requests_size;
    size_t *of; /* of each token operation: its request */
};

static int push(struct line *l, uint32_t id)
{
    uint32_t *ids = array_grow(l->ids, &l->size, l->n, 1, sizeof *ids);

    if (ids == NULL)
        return -ENOMEM;
    l->ids = ids;
    l->ids[l->n++] = id;
    return 0;
}

static int copy_line(struct line *to, const struct line *from)
{
    int err = 0;

    to->n = 0;
    for (size_t i = 0; err == 0 && i < from->n; i++)
        err = push(to, from->ids[i]);
    return err;
}

/* A request of a slot that holds the tokens before its own. */
static int begin(struct walk *w, uint32_t slot, const struct line *prompt)
{
    struct request *list = array_grow(w->requests, &w->requests_size,
                                      w->n_requests, 1, sizeof *w->requests);

    if (list == NULL)
        return -ENOMEM;
    w->requests = list;
    list[w->n_requests] =
        (struct request){.id = w->n_requests, .slot = slot, .choices = 1};
    w->slots[slot].request = w->n_requests++;
    return copy_line(&list[w->n_requests - 1].prompt, prompt);
}

static int token(struct walk *w, const struct plan_op *op, size_t *ret_of)
{
    struct slot *s = &w->slots[op->slot];
    bool over = op->position < s->line.n || s->request == SIZE_MAX;
    struct request *r;
    int err = op->position > s->line.n ? -EINVAL : 0;

    if (err != 0)
        return err;
    s->line.n = op->position;
    if (over)
        err = begin(w, op->slot, &s->line);
    if (err == 0)
        err = push(&s->line, op->id);
    if (err != 0)
        return err;
    *ret_of = s->request;
    r = &w->requests[s->request];
    if (r->prompt_known)
        return op->output ? 0 : -EINVAL;
    r->prompt_known = op->output;
    return push(&r->prompt, op->id);
}

static int save(struct walk *w, const struct plan_op *op)
{
    struct saved *list =
        array_grow(w->saved, &w->saved_size, w->n_saved, 1, sizeof *w->saved);

    if (list == NULL)
        return -ENOMEM;
    w->saved = list;
    list[w->n_saved] = (struct saved){.id = op->id};
    return copy_line(&list[w->n_saved++].line, &w->slots[op->slot].line);
}

static int load(struct walk *w, const struct plan_op *op)
{
    w->slots[op->slot].request = SIZE_MAX;
    for (size_t i = w->n_saved; i-- > 0;)
        if (w->saved[i].id == op->id)
            return copy_line(&w->slots[op->slot].line, &w->saved[i].line);
    return -EINVAL;
}

/* Another choice, of the request whose prompt was just done. */
static int copy(struct walk *w, const struct plan_op *op)
{
    struct slot *from = &w->slots[op->slot], *to = &w->slots[op->id];
    size_t parent = from->request;
    int err = from == to ? -EINVAL : copy_line(&to->line, &from->line);

    to->request = SIZE_MAX;
    if (err != 0 || parent == SIZE_MAX || !w->requests[parent].prompt_known)
        return err;
    err = begin(w, op->id, &from->line);
    if (err == 0) {
        struct request *r = &w->requests[to->request];

        r->id = w->requests[parent].id;
        r->choice = w->requests[r->id].choices++;
        r->prompt_known = true;
    }
    return err;
}

static int follow(struct walk *w, const struct plan_op *op, size_t *ret_of)
{
    switch (op->kind) {
    case PLAN_TOKEN:
        return token(w, op, ret_of);
    case PLAN_REMOVE:
        w->slots[op->slot].request = SIZE_MAX;
        if (op->position < w->slots[op->slot].line.n)
            w->slots[op->slot].line.n = op->position;
        return 0;
    case PLAN_SAVE:
        return save(w, op);
    case PLAN_LOAD:
        return load(w, op);
    case PLAN_COPY:
        return copy(w, op);
    case PLAN_DECODE:
        return 0;
    case PLAN_HOLE:
        break; /* nobody knows whose tokens follow */
    }
    return -EINVAL;
}

static void walk_fini(struct walk *w)
{
    for (size_t i = 0; i < LLAMA_SEQUENCES; i++)
        free(w->slots[i].line.ids);
    for (size_t i = 0; i < w->n_saved; i++)
        free(w->saved[i].line.ids);
    for (size_t i = 0; i < w->n_requests; i++)
        free(w->requests[i].prompt.ids);
    free(w->saved);
    free(w->requests);
    free(w->of);
}

static int walk(const struct plan *p, struct walk *w)
{
    int err = 0;

    for (size_t i = 0; i < LLAMA_SEQUENCES; i++)
        w->slots[i].request = SIZE_MAX;
    w->of = calloc(p->n + 1, sizeof *w->of);
    if (w->of == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < p->n; i++)
        err = follow(w, &p->ops[i], &w->of[i]);
    return err;
}

/* ---- the text ---- */

static void put_op(FILE *out, const struct plan_op *op, bool first)
{
    static const char letters[] = {[PLAN_REMOVE] = 'R',
                                   [PLAN_SAVE] = 'S',
                                   [PLAN_LOAD] = 'L',
                                   [PLAN_COPY] = 'C'};

    fprintf(out, "%s\"%c %" PRIu32 " %" PRIu32 "\"", first ? "" : ",",
            letters[op->kind], op->slot,
            op->kind == PLAN_REMOVE ? op->position : op->id);
}

/* What a request's first message has of it. One whose prompt was never done
 * has a token more, so that none of its rows is an answer's. */
static void put_prompt(FILE *out, const struct request *r)
{
    fprintf(out, ",\"params\":{\"slot\":%" PRIu32 "},\"prompt\":[", r->slot);
    for (size_t i = 0; i < r->prompt.n; i++)
        fprintf(out, "%s%" PRIu32, i == 0 ? "" : ",", r->prompt.ids[i]);
    if (!r->prompt_known)
        fprintf(out, ",%" PRIu32, r->prompt.ids[r->prompt.n - 1]);
    fputc(']', out);
}

/* Tokens [from, to) of the plan, of one request. */
static void put_member(FILE *out, const struct plan *p, size_t from, size_t to,
                       struct request *r)
{
    uint32_t start = p->ops[from].position;

    fprintf(out,
            "{\"id\":\"task:%zu\",\"choice\":%" PRIu32 ",\"start\":%" PRIu32
            ",\"n\":%zu,\"cached\":%" PRIu32 ",\"ids\":[",
            r->id, r->choice, start, to - from, r->told ? 0 : start);
    for (size_t i = from; i < to; i++)
        fprintf(out, "%s%" PRIu32, i == from ? "" : ",", p->ops[i].id);
    fputc(']', out);
    if (!r->told)
        put_prompt(out, r);
    r->told = true;
    fputc('}', out);
}

/* The operations [from, to) of a plan, its decode call number seq. */
struct call {
    size_t from, to, seq;
};

static void put_message(FILE *out, const struct plan *p, struct walk *w,
                        struct call c)
{
    bool first = true;

    fprintf(out,
            "{\"assay\":\"batch-step/1\",\"engine\":\"e\",\"feed\":\"f\","
            "\"seq\":%zu,\"step\":%zu,\"time_ns\":\"%zu\",\"padded\":0,"
            "\"members\":[",
            c.seq, c.seq, c.seq);
    for (size_t i = c.from, end; i < c.to; i = end) {
        bool token = p->ops[i].kind == PLAN_TOKEN;

        for (end = i + 1; token && end < c.to && w->of[end] == w->of[i] &&
                          p->ops[end].kind == PLAN_TOKEN;)
            end++;
        if (!token)
            continue;
        fputs(first ? "" : ",", out);
        put_member(out, p, i, end, &w->requests[w->of[i]]);
        first = false;
    }
    fputs("],\"ops\":[", out);
    first = true;
    for (size_t i = c.from; i < c.to; i++)
        if (p->ops[i].kind != PLAN_TOKEN) {
            put_op(out, &p->ops[i], first);
            first = false;
        }
    fputs("]}\n", out);
}

static int split(struct plan_feed *f, const char *text, size_t n)
{
    size_t at = 0;

    f->messages = calloc(f->n + 1, sizeof *f->messages);
    if (f->messages == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < f->n; i++) {
        const char *lf = memchr(text + at, '\n', n - at);

        f->messages[i] = span_of(text + at, (size_t)(lf - (text + at)));
        at = (size_t)(lf - text) + 1;
    }
    return 0;
}

static int put_all(const struct plan *p, struct walk *w, struct plan_feed *f)
{
    char *text = NULL;
    size_t n = 0, from = 0;
    FILE *out = open_memstream(&text, &n);

    if (out == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < p->n; i++)
        if (p->ops[i].kind == PLAN_DECODE) {
            put_message(out, p, w, (struct call){from, i, f->n++});
            from = i + 1;
        }
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    f->text = text;
    return split(f, text, n);
}

int plan_feed_init(const struct plan *p, struct plan_feed *ret_f)
{
    struct walk *w = calloc(1, sizeof *w);
    struct plan_feed f = {0};
    int err = w == NULL ? -ENOMEM : walk(p, w);

    if (err == 0)
        err = put_all(p, w, &f);
    if (w != NULL)
        walk_fini(w);
    free(w);
    if (err != 0)
        plan_feed_fini(&f);
    else
        *ret_f = f;
    return err;
}

void plan_feed_fini(struct plan_feed *f)
{
    free(f->messages);
    free(f->text);
    *f = (struct plan_feed){0};
}
