/*
 * judged.c - judges the requests of a capture.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "judged.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "capture.h"
#include "engine/llama/answers.h"
#include "engine/llama/claim/open_ids.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/schedule/feed.h"
#include "followed.h"
#include "searched.h"

/* Claims of all exchanges in one row, and whose they are. */
struct claims {
    struct llama_answers *answers; /* one an exchange */
    struct claim_llama *list;
    size_t *owner; /* exchange of each claim */
    size_t n;
    struct arena opened; /* answers whose ids are found */
};

static void claims_fini(struct claims *a, size_t n_exchanges)
{
    for (size_t i = 0; a->answers != NULL && i < n_exchanges; i++)
        llama_answers_fini(&a->answers[i]);
    free(a->answers);
    free(a->list);
    free(a->owner);
    arena_fini(&a->opened);
}

static int claims_init(const struct judge *q, const struct capture *c,
                       struct claims *a)
{
    const struct deployed *d = q->d;
    struct llama_request_model m =
        llama_request_model_of(d->text, d->chat, &d->recipe);
    int err = 0;

    a->answers = calloc(c->n + 1, sizeof *a->answers);
    if (a->answers == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < c->n; i++) {
        err = llama_answers_init(&c->recorded[i].exchange, &m, &a->answers[i]);
        a->n += a->answers[i].n;
    }
    a->list = calloc(a->n + 1, sizeof *a->list);
    a->owner = calloc(a->n + 1, sizeof *a->owner);
    if (err != 0 || a->list == NULL || a->owner == NULL)
        return err != 0 ? err : -ENOMEM;
    a->n = 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < a->answers[i].n; k++) {
            a->owner[a->n] = i;
            a->list[a->n++] = a->answers[i].claims[k];
        }
    return 0;
}

void judged_say(struct judged *j, const char *fmt, ...)
{
    size_t n = strlen(j->words);
    va_list args;

    if (n > 0 && n + 3 < sizeof j->words) {
        memcpy(j->words + n, "; ", 3);
        n += 2;
    }
    va_start(args, fmt);
    (void)vsnprintf(j->words + n, sizeof j->words - n, fmt, args); /* cut */
    va_end(args);
}

static void add_score(struct judged *j, const struct claim_score *s)
{
    j->compared += s->compared;
    j->differing += s->differing;
    if (s->probs > 0)
        judged_say(j, "%zu probabilities", s->probs);
    if (s->differing != 0)
        judged_say(j, "%s at %zu: %08x, computed %08x",
                   s->first_is_token ? "token" : "logprob", s->first,
                   s->claimed_bits, s->computed_bits);
}

static void add_followed(struct judged *j, const struct followed *f)
{
    if (!f->found) {
        j->undecided = true;
        judged_say(j, "the plan has no request of its prompt");
        return;
    }
    j->level = "plan";
    if (f->score.compared + f->score.probs == 0)
        judged_say(j, "tokens only");
    j->runs += f->rows;
    add_score(j, &f->score);
}

/* The claims of these exchanges, followed. */
static int follow_all(const struct judge *q, const struct claims *a,
                      const bool *followed, const struct feed *f,
                      struct judged *j)
{
    struct claim_llama *list = calloc(a->n + 1, sizeof *list);
    struct followed *found = calloc(a->n + 1, sizeof *found);
    size_t n = 0;
    int err = list == NULL || found == NULL ? -ENOMEM : 0;

    for (size_t i = 0; err == 0 && i < a->n; i++)
        if (followed[a->owner[i]])
            list[n++] = a->list[i];
    if (err == 0 && n != 0)
        err = follow(q->d, f, list, n, found);
    n = 0;
    for (size_t i = 0; err == 0 && i < a->n; i++)
        if (followed[a->owner[i]])
            add_followed(&j[a->owner[i]], &found[n++]);
    free(list);
    free(found);
    return err;
}

static int by_plan(const struct judge *q, const struct capture *c,
                   const struct claims *a, struct judged *j)
{
    bool *followed = calloc(c->n + 1, sizeof *followed);
    struct feed f = {0};
    int err = followed == NULL ? -ENOMEM : 0;

    if (err == 0)
        err = judge_by_plan(q, c, j, followed, &f);
    if (err == 0)
        err = follow_all(q, a, followed, &f, j);
    feed_fini(&f);
    free(followed);
    return err;
}

static void add_found(struct judged *j, const struct searched *f)
{
    const struct search_verdict *v = &f->verdict;

    j->runs += v->runs;
    j->level = v->invariant ? "invariant" : "search";
    if (v->outcome == SEARCH_UNDECIDED) {
        j->undecided = true;
        judged_say(j, "search_undecided: %s (step %zu)", v->why,
                   v->step == SIZE_MAX ? 0 : v->step);
        return;
    }
    add_score(j, &f->score);
    if (f->score.compared > 0)
        judged_say(j, "%.0f bits", v->bits);
    else
        judged_say(j, "tokens only");
}

static int by_search(const struct judge *q, const struct capture *c,
                     struct claims *a, struct judged *j)
{
    struct searched *found = calloc(a->n + 1, sizeof *found);
    int err = found == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < a->n; i++)
        claim_open_ids(&a->list[i], &c->recorded[a->owner[i]].exchange.answer,
                       &a->opened);
    if (err == 0)
        err = search_all(q->d, a->list, a->n, found);
    for (size_t i = 0; err == 0 && i < a->n; i++)
        add_found(&j[a->owner[i]], &found[i]);
    free(found);
    return err;
}

/* Those that asked for an answer and got one. */
static size_t keep_answered(struct judged *j, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (j[i].answered)
            j[kept++] = j[i];
    return kept;
}

int judge_capture(const struct judge *q, const struct capture *c,
                  struct judged *ret_j, size_t *ret_n)
{
    bool searched = q->http || !c->has_plan;
    struct claims a = {0};
    int err = claims_init(q, c, &a);

    for (size_t i = 0; err == 0 && i < c->n; i++) {
        ret_j[i] = (struct judged){.name = c->recorded[i].name,
                                   .level = "-",
                                   .answered = a.answers[i].n > 0};
        if (a.answers[i].reason != NULL)
            judged_say(&ret_j[i], "%s", a.answers[i].reason);
    }
    if (err == 0 && !searched) {
        err = by_plan(q, c, &a, ret_j);
        searched = err == -EINVAL;
        if (searched)
            (void)fprintf(stderr, "a plan that cannot be run: not looked at\n");
        err = searched ? 0 : err;
    }
    if (err == 0 && searched)
        err = by_search(q, c, &a, ret_j);
    if (err == 0)
        *ret_n = keep_answered(ret_j, c->n);
    claims_fini(&a, c->n);
    return err;
}
