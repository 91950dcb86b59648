/*
 * plan_replay.c - a plan's rows to the claims that wait for them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_replay.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/recipe.h"
#include "engine/llama/sampler/sampler.h"
#include "engine/llama/schedule/plan.h"
#include "engine/llama/schedule/plan_assign.h"
#include "engine/llama/schedule/plan_match.h"
#include "engine/llama/schedule/plan_run.h"
#include "engine/llama/schedule/turn.h"
#include "engine/llama/vocab/text_match.h"
#include "store/dialect.h"

/* One claim held against one turn that may be its. */
struct pair {
    size_t claim, turn;
    size_t rank; /* of plan_match */
    size_t next; /* another pair of the same turn, or SIZE_MAX */
    struct llama_sampler *sampler;
    struct claim_score score;
    uint32_t *ids; /* by text: what the turn chose */
    size_t n_ids;
};

struct bench {
    const struct plan_replay *r;
    const struct claim_llama *claims;
    size_t n_claims;
    struct claim_desk desk;
    struct pair *pairs;
    size_t n_pairs;
    size_t *of_turn; /* first pair of each turn */
};

static int open_sampler(const struct bench *b, struct pair *p)
{
    const struct claim_llama *c = &b->claims[p->claim];
    const struct turn *t = &b->r->turns->turns[p->turn];

    if (!c->sampling)
        return 0;
    int err =
        llama_sampler_open(c->sampling, (uint32_t)b->desk.vocab, &p->sampler);
    for (size_t i = 0; !err && i < t->n_prompt; i++)
        err = llama_sampler_accept(p->sampler, t->ids[i]);
    return err;
}

static int add_pairs(struct bench *b, size_t claim,
                     const struct plan_fit *found, size_t n)
{
    struct pair *grown =
        reallocarray(b->pairs, b->n_pairs + n + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    b->pairs = grown;
    for (size_t i = 0; i < n; i++) {
        struct pair *p = &b->pairs[b->n_pairs];
        size_t *first = &b->of_turn[found[i].turn];
        *p = (struct pair){.claim = claim,
                           .turn = found[i].turn,
                           .rank = found[i].rank,
                           .next = *first};
        claim_score_init(&p->score);
        *first = b->n_pairs++;
        int err = open_sampler(b, p);
        if (err)
            return err;
    }
    return 0;
}

static int pair_all(struct bench *b)
{
    size_t n_turns = b->r->turns->n;
    int err = 0;

    struct plan_fit *found = calloc(n_turns + 1, sizeof(*found));
    b->of_turn = calloc(n_turns + 1, sizeof(*b->of_turn));
    if (!found || !b->of_turn)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < n_turns; i++)
        b->of_turn[i] = SIZE_MAX;
    for (size_t i = 0; !err && i < b->n_claims; i++) {
        size_t n = plan_match(b->r->turns, &b->claims[i], found);
        err = add_pairs(b, i, found, n);
    }
    free(found);
    return err;
}

/* The turn's own token after this row: fed next, or chosen here. */
static int read_on(const struct bench *b, struct pair *p, size_t step,
                   const float *logits)
{
    const struct turn *t = &b->r->turns->turns[p->turn];
    bool seeded = p->sampler && b->claims[p->claim].seeded;
    size_t at = t->n_prompt + step;
    bool fed = at < t->n_ids;
    uint32_t id = fed ? t->ids[at] : UINT32_MAX;
    uint32_t chosen = id;
    bool can_be = true;

    if (p->sampler && llama_sampler_choose(p->sampler, logits, &chosen) == 0) {
        p->score.choices += seeded;
        can_be = seeded ? chosen == id
                        : fed && llama_sampler_possible(p->sampler, id);
    }
    if (fed && !can_be)
        claim_differs(&p->score, step);
    if (!fed && seeded)
        id = chosen;
    if (id == UINT32_MAX)
        return 0;
    uint32_t *grown = reallocarray(p->ids, p->n_ids + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    p->ids = grown;
    p->ids[p->n_ids++] = id;
    return p->sampler ? llama_sampler_accept(p->sampler, id) : 0;
}

static int hold(struct bench *b, struct pair *p, size_t step,
                const float *logits)
{
    const struct claim_llama *c = &b->claims[p->claim];

    if (claim_by_text(c))
        return read_on(b, p, step, logits);
    (void)claim_step(&b->desk, c, step, logits, p->sampler, &p->score);
    return 0;
}

static int row(void *arg, size_t number, const float *logits)
{
    struct bench *b = arg;
    const struct turns *t = b->r->turns;

    int err = 0;

    b->desk.number = number + 1;
    for (size_t s = t->rows[number]; s != SIZE_MAX; s = t->steps[s].next)
        for (size_t i = b->of_turn[t->steps[s].turn]; !err && i != SIZE_MAX;
             i = b->pairs[i].next)
            err = hold(b, &b->pairs[i], t->steps[s].step, logits);
    return err;
}

static int finish_text(const struct bench *b, struct pair *p)
{
    const struct claim_llama *c = &b->claims[p->claim];
    struct text_match w = {.text = c->choice->text,
                           .stops = c->stops,
                           .n_stops = c->n_stops,
                           .whole = c->choice->finish.n > 0,
                           .open = !(p->sampler && c->seeded)};
    bool equal = false;
    int err = 0;

    if (b->r->text)
        err = text_match_equal(b->r->text, &w, p->ids, p->n_ids, &equal);
    if (!err && !equal)
        claim_differs(&p->score, 0);
    return err;
}

/* A position that the turn never computed was not reproduced. */
static int finish(const struct bench *b, struct pair *p)
{
    size_t n = claim_tokens(&b->claims[p->claim]);
    size_t rows = b->r->turns->turns[p->turn].n_rows;

    if (claim_by_text(&b->claims[p->claim]))
        return finish_text(b, p);
    for (size_t i = rows; i < n; i++)
        claim_differs(&p->score, i);
    return 0;
}

/* Ids or logprobs; a text alone; nothing at all. */
static unsigned grade_of(const struct claim_llama *c)
{
    if (claim_by_text(c))
        return 1;
    return claim_tokens(c) > 0 ? 0 : 2;
}

/* Each turn made one answer: pair i of b->pairs is pair i of `pairs`, until
 * that is sorted. */
static int assign_pairs(const struct bench *b, struct assign_pair *pairs,
                        unsigned *grade, struct plan_verdict *v)
{
    size_t *turns = calloc(b->n_claims + 1, sizeof(*turns));
    if (!turns)
        return -ENOMEM;
    for (size_t i = 0; i < b->n_claims; i++)
        grade[i] = grade_of(&b->claims[i]);
    for (size_t i = 0; i < b->n_pairs; i++) {
        const struct pair *p = &b->pairs[i];
        pairs[i] = (struct assign_pair){p->claim, p->turn, p->score.differing,
                                        p->rank};
    }
    int err = plan_assign(pairs, b->n_pairs, grade, b->n_claims, turns);
    for (size_t i = 0; !err && i < b->n_claims; i++) {
        v[i].turn = turns[i];
        claim_score_init(&v[i].score);
    }
    for (size_t i = 0; !err && i < b->n_pairs; i++)
        if (turns[b->pairs[i].claim] == b->pairs[i].turn)
            v[b->pairs[i].claim].score = b->pairs[i].score;
    free(turns);
    return err;
}

static int assign(const struct bench *b, struct plan_verdict *v)
{
    struct assign_pair *pairs = calloc(b->n_pairs + 1, sizeof(*pairs));
    unsigned *grade = calloc(b->n_claims + 1, sizeof(*grade));
    int err = -ENOMEM;

    if (pairs && grade)
        err = assign_pairs(b, pairs, grade, v);
    free(pairs);
    free(grade);
    return err;
}

static void bench_fini(struct bench *b)
{
    for (size_t i = 0; i < b->n_pairs; i++) {
        if (b->pairs[i].sampler)
            llama_sampler_close(b->pairs[i].sampler);
        free(b->pairs[i].ids);
    }
    free(b->pairs);
    free(b->of_turn);
    claim_desk_fini(&b->desk);
}

int plan_replay(const struct plan_replay *r, const struct claim_llama *claims,
                size_t n, struct plan_verdict *ret_verdicts, uint64_t *ret_runs)
{
    struct bench b = {.r = r, .claims = claims, .n_claims = n};
    struct plan_runner runner = {r->model, &r->recipe->run, r->pool, NULL, row,
                                 &b};

    *ret_runs = 0;
    int err = claim_desk_init(&b.desk, llama_model_shape(r->model)->vocab,
                              r->recipe->logprobs);
    err = err ? err : pair_all(&b);
    err = err ? err : plan_run(r->plan, &runner, ret_runs);
    for (size_t i = 0; !err && i < b.n_pairs; i++)
        err = finish(&b, &b.pairs[i]);
    err = err ? err : assign(&b, ret_verdicts);
    bench_fini(&b);
    return err;
}
