/*
 * judged.c - judges the requests of a capture.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "judged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "engine/llama/answers.h"
#include "engine/llama/recipe.h"
#include "engine/llama/schedule/plan_replay.h"
#include "engine/llama/schedule/turn.h"
#include "search/search.h"

/* Claims of all exchanges in one row, and whose they are. */
struct arena {
    struct llama_answers *answers; /* one an exchange */
    struct claim_llama *claims;
    size_t *owner; /* exchange of each claim */
    size_t n;
};

static void arena_fini(struct arena *p, size_t n_exchanges)
{
    for (size_t i = 0; p->answers && i < n_exchanges; i++)
        llama_answers_fini(&p->answers[i]);
    free(p->answers);
    free(p->claims);
    free(p->owner);
}

static int pile_init(const struct judge *q, const struct capture *c,
                     struct arena *p)
{
    struct llama_request_model m =
        llama_request_model_of(q->text, q->chat, q->recipe);
    int err = 0;

    p->answers = calloc(c->n + 1, sizeof(*p->answers));
    if (!p->answers)
        return -ENOMEM;
    for (size_t i = 0; !err && i < c->n; i++) {
        err = llama_answers_init(&c->recorded[i].exchange, &m, &p->answers[i]);
        p->n += p->answers[i].n;
    }
    p->claims = calloc(p->n + 1, sizeof(*p->claims));
    p->owner = calloc(p->n + 1, sizeof(*p->owner));
    if (err || !p->claims || !p->owner)
        return err ? err : -ENOMEM;
    p->n = 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < p->answers[i].n; k++) {
            p->owner[p->n] = i;
            p->claims[p->n++] = p->answers[i].claims[k];
        }
    return 0;
}

static void say(struct judged *j, const char *words)
{
    size_t n = strlen(j->words);

    (void)snprintf(j->words + n, sizeof(j->words) - n, "%s%s",
                   n > 0 ? "; " : "", words); /* may be cut */
}

static void add_score(struct judged *j, const struct claim_score *s)
{
    char words[96];

    j->compared += s->compared;
    j->differing += s->differing;
    if (s->probs > 0) {
        (void)snprintf(words, sizeof(words), "%zu probabilities", s->probs);
        say(j, words);
    }
    if (s->differing == 0)
        return;
    (void)snprintf(words, sizeof(words), "%s at %zu: %08x, computed %08x",
                   s->first_is_token ? "token" : "logprob", s->first,
                   s->claimed_bits, s->computed_bits);
    say(j, words);
}

static void add_verdict(struct judged *j, const struct plan_verdict *v,
                        const struct turns *t)
{
    if (v->turn == SIZE_MAX) {
        j->undecided = true;
        say(j, "the plan has no turn for it");
        return;
    }
    j->level = "plan";
    if (v->score.compared + v->score.probs == 0)
        say(j, "tokens only");
    j->runs += t->turns[v->turn].n_rows;
    add_score(j, &v->score);
}

static int by_plan(const struct judge *q, struct capture *c, struct arena *p,
                   struct judged *j)
{
    struct turns turns;
    size_t op;
    uint64_t runs;

    struct plan_verdict *v = calloc(p->n + 1, sizeof(*v));
    if (!v)
        return -ENOMEM;
    int err = turns_of(&c->plan, &turns, &op);
    if (err) {
        free(v);
        return err;
    }
    struct plan_replay r = {&c->plan, &turns,  q->recipe,
                            q->model, q->pool, q->text};
    err = plan_replay(&r, p->claims, p->n, v, &runs);
    for (size_t i = 0; !err && i < p->n; i++)
        add_verdict(&j[p->owner[i]], &v[i], &turns);
    turns_fini(&turns);
    free(v);
    return err;
}

static void add_found(struct judged *j, const struct search_verdict *v)
{
    char words[96];

    j->runs += v->runs;
    j->level = v->invariant ? "invariant" : "search";
    if (v->outcome == SEARCH_UNDECIDED) {
        j->undecided = true;
        (void)snprintf(words, sizeof(words), "search_undecided: %s (step %zu)",
                       v->why, v->score.first == SIZE_MAX ? 0 : v->score.first);
        say(j, words);
        return;
    }
    add_score(j, &v->score);
    (void)snprintf(words, sizeof(words), "%.0f bits", v->bits);
    say(j, v->score.compared > 0 ? words : "tokens only");
}

static int by_search(const struct judge *q, struct arena *p, struct judged *j)
{
    struct search s = {q->model, q->recipe, q->pool, 0, q->text};

    struct search_verdict *v = calloc(p->n + 1, sizeof(*v));
    if (!v)
        return -ENOMEM;
    int err = search_claims(&s, p->claims, p->n, v);
    for (size_t i = 0; !err && i < p->n; i++)
        add_found(&j[p->owner[i]], &v[i]);
    free(v);
    return err;
}

/* Those that asked for an answer and got one. */
static size_t keep_answered(const struct arena *p, struct judged *j, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (p->answers[i].n > 0)
            j[kept++] = j[i];
    return kept;
}

int judge_capture(const struct judge *q, struct capture *c,
                  struct judged *ret_j, size_t *ret_n)
{
    struct arena p = {0};

    int err = pile_init(q, c, &p);
    for (size_t i = 0; !err && i < c->n; i++) {
        ret_j[i] = (struct judged){.name = c->recorded[i].name, .level = "-"};
        if (p.answers[i].reason)
            say(&ret_j[i], p.answers[i].reason);
    }
    bool searched = q->http || !c->has_plan;
    if (!err && !searched) {
        err = by_plan(q, c, &p, ret_j);
        searched = err == -EINVAL || err == -ERANGE;
        if (searched)
            (void)fprintf(stderr, "a plan that cannot be run: not looked at\n");
        err = searched ? 0 : err;
    }
    if (!err && searched)
        err = by_search(q, &p, ret_j);
    if (!err)
        *ret_n = keep_answered(&p, ret_j, c->n);
    arena_fini(&p, c->n);
    return err;
}
