/*
 * test_random.c - the search from both sides, over random engines, requests and
 * batches: an honest answer is solved or undecided, never refuted; one that no
 * batch gives is never solved, nor does it make a neighbour look dishonest.
 *
 * usage: test_search_random [ROUNDS]
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/signature.h"
#include "toy.h"

enum { ROUNDS = 40000, LIMIT = 4000, PROMPT_MAX = 10, ANSWER_MAX = 12 };

static const char *const names[] = {"solved", "refuted", "undecided"};

struct lot {
    uint64_t seed, drawn;
};

/* Below n. */
static size_t draw(struct lot *l, size_t n)
{
    return signature_mix(signature_mix(1, l->seed), l->drawn++) % n;
}

static bool once_in(struct lot *l, size_t n)
{
    return draw(l, n) == 0;
}

static struct toy_rules draw_rules(struct lot *l)
{
    struct toy_rules r = {.shapes = 1 + (unsigned)draw(l, TOY_SHAPES),
                          .chunked = !once_in(l, 3),
                          .splits = once_in(l, 3) ? (unsigned)draw(l, 4) : 0,
                          .quiet_in = once_in(l, 3) ? 0 : 2 + draw(l, 6),
                          .weights = 1,
                          .own_prefix = once_in(l, 4),
                          .prefix_unit = once_in(l, 4) ? 3 : 0,
                          .prefix_moves = once_in(l, 12),
                          .missing_of = TOY_NOBODY};

    for (size_t i = 0; i < TOY_TOKENS && r.quiet_in != 0; i++)
        r.near[i] = once_in(l, 2);
    if (once_in(l, 6)) { /* and of the offsets, one that is not listed */
        r.offsets = 1 + (unsigned)draw(l, 2);
        r.missing = "offsets are hidden";
    }
    if (once_in(l, 8))
        r.first_row = "first rows are hidden";
    return r;
}

static struct kv_split draw_split(const struct toy *t, struct lot *l)
{
    uint32_t border = (uint32_t)draw(l, t->rules.splits + 1);

    return (struct kv_split){border, border > 0};
}

/* Batches change seldom. */
static void draw_steps(struct toy *t, struct lot *l, struct toy_request *r)
{
    struct hypothesis h = {0, {0, 0}};

    for (size_t i = 1; i < r->n_answer; i++) {
        if (once_in(l, 4))
            h = (struct hypothesis){(unsigned)draw(l, t->rules.shapes),
                                    draw_split(t, l)};
        r->steps[i] = h;
    }
}

static void draw_prefix(struct toy *t, struct lot *l, size_t i)
{
    struct toy_request *r = &t->requests[i];
    size_t source = draw(l, i);
    const struct toy_request *s = &t->requests[source];
    size_t most = s->n_prompt + s->n_answer - 1;
    size_t n;

    if (most > r->n_prompt - 1)
        most = r->n_prompt - 1;
    n = 1 + draw(l, most);
    if (t->rules.prefix_unit > 1)
        n -= n % t->rules.prefix_unit;
    toy_share(t, i, source, n);
    if (n == 0 ||
        once_in(l, 4)) /* the tokens are the same, and were computed again */
        toy_compute(t, i);
    else if (t->rules.offsets > 0)
        r->offset = draw(l, t->rules.offsets + 2);
}

/* What the engine did that no list has, where the rules say so. */
static void draw_unlisted(struct toy *t, struct lot *l, size_t i)
{
    if (t->rules.first_row != NULL && once_in(l, 2))
        toy_unlisted_end(t, i);
    if (t->rules.missing != NULL && once_in(l, 2))
        t->requests[i].chunking.chunks[0].shape.rows = TOY_COMPANY + 1;
}

static void draw_request(struct toy *t, struct lot *l)
{
    size_t n_prompt = 2 + draw(l, PROMPT_MAX - 1);
    size_t i;

    if (t->n > 0)
        n_prompt += draw(l, PROMPT_MAX + ANSWER_MAX);
    i = toy_add(t, l->seed + l->drawn, n_prompt, 1 + draw(l, ANSWER_MAX));
    if (i > 0 && !once_in(l, 3))
        draw_prefix(t, l, i);
    else
        t->requests[i].n_cached = draw(l, t->rules.own_prefix + 1);
    toy_chunk(t, i, draw(l, 10));
    draw_unlisted(t, l, i);
    t->requests[i].prompt_split = draw_split(t, l);
    t->requests[i].inner_split = draw_split(t, l);
    draw_steps(t, l, &t->requests[i]);
    toy_serve(t, i);
}

/* The wire tells less of some. */
static void draw_silence(struct toy *t, struct lot *l, size_t i)
{
    struct search_claim *c = &t->claims[i];

    switch (draw(l, 25)) {
    case 0:
        c->ids = NULL;
        break;
    case 1:
        c->n_answer = draw(l, c->n_answer);
        c->goes_on = true;
        c->why = "cut off";
        break;
    case 2:
        c->n_cached = SIZE_MAX;
        break;
    case 3:
        c->has_logprobs = false;
        break;
    case 4:
        c->has_logprobs = false;
        t->untold[i] = true;
        break;
    default:
        break;
    }
}

/* A logprob changed, or all of them another model's; false: it has none. */
static bool lie(struct toy *t, struct lot *l, size_t i)
{
    size_t n = t->requests[i].n_answer;
    size_t step = draw(l, n);
    bool all = once_in(l, 2);

    for (size_t k = 0; k < n && t->claims[i].has_logprobs; k++)
        if (all || k == step)
            toy_alter(t, i, k);
    return t->claims[i].has_logprobs;
}

struct tally {
    size_t honest[3], lies[3];
};

/* Whether claim i may have that verdict. */
static bool is_right(const struct toy *t, size_t i, bool lied)
{
    enum search_outcome o = t->verdicts[i].outcome;
    const struct toy_request *r = &t->requests[i];

    if (lied)
        return o != SEARCH_SOLVED;
    if (o == SEARCH_UNDECIDED)
        return true;
    return o == SEARCH_SOLVED && t->found[i].n == t->claims[i].n_answer &&
           (!t->claims[i].has_logprobs ||
            memcmp(t->found[i].rows, r->rows, r->n_answer * sizeof *r->rows) ==
                0);
}

static bool check(const struct toy *t, const bool *lied, uint64_t round,
                  struct tally *tally)
{
    bool right = true;

    for (size_t i = 0; i < t->n; i++) {
        enum search_outcome o = t->verdicts[i].outcome;

        (lied[i] ? tally->lies : tally->honest)[o]++;
        if (is_right(t, i, lied[i]))
            continue;
        printf("round %llu: %s claim %zu is %s\n", (unsigned long long)round,
               lied[i] ? "false" : "honest", i, names[o]);
        right = false;
    }
    return right;
}

static bool play(uint64_t round, struct tally *tally)
{
    struct lot l = {round, 0};
    struct toy_rules rules = draw_rules(&l);
    size_t n = 1 + draw(&l, 5);
    bool lied[TOY_CLAIMS] = {false};
    struct toy t;

    toy_init(&t, &rules);
    for (size_t i = 0; i < n; i++)
        draw_request(&t, &l);
    for (size_t i = 0; i < n; i++)
        draw_silence(&t, &l, i);
    if (once_in(&l, 2)) {
        size_t i = draw(&l, n);

        lied[i] = lie(&t, &l, i);
    }
    if (toy_search(&t, 0, n, 1 + draw(&l, LIMIT)) != 0)
        return false;
    return check(&t, lied, round, tally);
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : ROUNDS;
    struct tally tally = {{0}, {0}};
    bool right = true;

    for (uint64_t i = 0; i < rounds; i++)
        right = play(i, &tally) && right;
    for (size_t o = 0; o < 3; o++)
        printf("%s: %zu honest, %zu false\n", names[o], tally.honest[o],
               tally.lies[o]);
    /* Neither side is won by giving up. */
    if (tally.honest[SEARCH_SOLVED] < tally.honest[SEARCH_UNDECIDED] ||
        tally.lies[SEARCH_REFUTED] < tally.lies[SEARCH_UNDECIDED])
        right = false;
    return right ? 0 : 1;
}
