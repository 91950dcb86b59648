/*
 * test_generate.c - the rules of an answer: how it goes on, where it ends, and
 * that a forced pass sees what the answer's own passes saw.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recompute/error.h"
#include "recompute/generate.h"
#include "recompute/model.h"
#include "tiny_model.h"

struct fixture {
    char dir[64];
    struct model *m;
    struct forward *f;
};

static const uint32_t prompt[5] = {1, 17, 33, 4, 90};

static int setup(void **state)
{
    static struct fixture x;
    struct tiny_model t = tiny_model_default();
    struct error error;

    /* Two end tokens: one of each file. */
    tiny_model_write(&t, x.dir);
    tiny_model_file(x.dir, "generation_config.json",
                    "{\"eos_token_id\":[2,55]}", 23);
    assert_int_equal(model_open(x.dir, &x.m, &error), 0);
    assert_int_equal(forward_open(x.m, NULL, &x.f), 0);
    *state = &x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;

    forward_close(x->f);
    model_close(x->m);
    tiny_model_remove(x->dir);
    return 0;
}

static struct generate ask(uint64_t seed, uint64_t max_tokens)
{
    struct generate p = {
        .prompt = prompt, .n_prompt = 5, .max_tokens = max_tokens};

    sampling_init(&p.sampling);
    p.sampling.temperature = 1.0f;
    p.sampling.seed = seed;
    p.sampling.n_top = 3;
    return p;
}

static struct generation run(struct fixture *x, const struct generate *p)
{
    struct generation g;

    assert_int_equal(generation_init(x->f, p, &g), 0);
    assert_int_equal(generation_run(&g, NULL, NULL), 0);
    return g;
}

static void forced_sees_what_the_answer_saw(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct generate p = ask(seed, 40), q = p;
        struct generation a = run(*state, &p), b;
        uint32_t ids[40];

        for (size_t i = 0; i < a.n_tokens; i++)
            ids[i] = a.tokens[i].id;
        q.forced = ids;
        q.n_forced = a.n_tokens;
        b = run(*state, &q);
        assert_int_equal(b.end, GENERATE_FORCED);
        assert_int_equal(b.n_tokens, a.n_tokens);
        assert_memory_equal(a.tokens, b.tokens, a.n_tokens * sizeof *a.tokens);
        assert_memory_equal(a.top, b.top, a.n_tokens * 3 * sizeof *a.top);
        generation_fini(&a);
        generation_fini(&b);
    }
}

static void a_forged_token_shows_at_its_place_only(void **state)
{
    struct generate p = ask(3, 30), q = p;
    struct generation a, b;
    uint32_t ids[30];

    p.ignore_eos = q.ignore_eos = true;
    a = run(*state, &p);
    for (size_t i = 0; i < 30; i++)
        ids[i] = a.tokens[i].id;
    ids[12] = (ids[12] + 1) % 101;
    q.forced = ids;
    q.n_forced = 30;
    b = run(*state, &q);
    assert_memory_equal(a.tokens, b.tokens, 13 * sizeof *a.tokens);
    assert_int_not_equal(b.tokens[12].id, ids[12]);
    assert_int_not_equal(float_bits(a.tokens[13].logprob),
                         float_bits(b.tokens[13].logprob));
    generation_fini(&a);
    generation_fini(&b);
}

static void an_answer_ends_with_its_end_token(void **state)
{
    unsigned ended = 0, one = 0, other = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct generate p = ask(seed, 60);
        struct generation g = run(*state, &p);
        uint32_t last = g.tokens[g.n_tokens - 1].id;

        for (size_t i = 0; i + 1 < g.n_tokens; i++)
            assert_false(g.tokens[i].id == 2 || g.tokens[i].id == 55);
        assert_int_equal(g.end == GENERATE_EOS, last == 2 || last == 55);
        if (g.end != GENERATE_EOS)
            assert_int_equal(g.n_tokens, 60);
        ended += g.end == GENERATE_EOS;
        one += last == 2;
        other += last == 55;
        assert_int_equal(generation_pending(&g), 0);
        generation_fini(&g);
    }
    assert_true(ended > 0 && one > 0 && other > 0);
}

static void the_context_ends_an_answer(void **state)
{
    struct generate p = ask(5, UINT64_MAX);
    struct generation g;

    p.ignore_eos = true;
    g = run(*state, &p);
    assert_int_equal(g.end, GENERATE_LENGTH);
    assert_int_equal(g.n_tokens, 96 - 5);
    generation_fini(&g);
}

static void stop_at_seven(void *arg, struct generation *g, size_t from)
{
    unsigned *calls = arg;

    assert_int_equal(g->n_tokens, from + 1);
    if (++*calls == 7)
        generation_stop(g);
}

static void the_caller_can_end_an_answer(void **state)
{
    struct fixture *x = *state;
    struct generate p = ask(5, 90);
    struct generation g;
    unsigned calls = 0;

    p.ignore_eos = true;
    assert_int_equal(generation_init(x->f, &p, &g), 0);
    assert_int_equal(generation_run(&g, stop_at_seven, &calls), 0);
    assert_int_equal(g.end, GENERATE_STOP);
    assert_int_equal(g.n_tokens, 7);
    generation_fini(&g);
}

/* Two generations in one batch, the prompts in pieces of 2 and 3. */
static void a_shared_batch_changes_nothing(void **state)
{
    struct fixture *x = *state;
    struct generate p[2] = {ask(8, 20), ask(9, 25)};
    struct generation alone[2], g[2];
    float logits[2][101];

    p[1].choice = 1;
    for (int i = 0; i < 2; i++) {
        p[i].ignore_eos = true;
        alone[i] = run(x, &p[i]);
        assert_int_equal(generation_init(x->f, &p[i], &g[i]), 0);
    }
    while (generation_pending(&g[0]) + generation_pending(&g[1]) > 0) {
        struct member m[2];
        size_t n = 0, of[2];

        for (size_t i = 0; i < 2; i++) {
            if (generation_pending(&g[i]) == 0)
                continue;
            generation_member(&g[i], 2 + i, &m[n]);
            m[n].logits = logits[n];
            of[n++] = i;
        }
        assert_int_equal(forward_run(x->f, m, n), 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(generation_take(&g[of[i]], &m[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(g[i].n_tokens, alone[i].n_tokens);
        assert_memory_equal(g[i].tokens, alone[i].tokens,
                            g[i].n_tokens * sizeof *g[i].tokens);
        generation_fini(&g[i]);
        generation_fini(&alone[i]);
    }
}

static void bad_parameters_are_refused(void **state)
{
    struct fixture *x = *state;
    uint32_t ids[97] = {0};
    struct generate p = ask(1, 1), q;
    struct generation g;

    q = p;
    q.n_prompt = 0;
    assert_int_equal(generation_init(x->f, &q, &g), -EINVAL);
    q = p;
    q.max_tokens = 0;
    assert_int_equal(generation_init(x->f, &q, &g), -EINVAL);
    q = p;
    q.sampling.top_p = 2.0f;
    assert_int_equal(generation_init(x->f, &q, &g), -EINVAL);
    q = p;
    q.prompt = ids;
    q.n_prompt = 96;
    assert_int_equal(generation_init(x->f, &q, &g), -ENOSPC);
    q = p;
    q.forced = ids;
    q.n_forced = 92;
    assert_int_equal(generation_init(x->f, &q, &g), -ENOSPC);
    ids[0] = 101;
    q = p;
    q.prompt = ids;
    assert_int_equal(generation_init(x->f, &q, &g), -ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forced_sees_what_the_answer_saw),
        cmocka_unit_test(a_forged_token_shows_at_its_place_only),
        cmocka_unit_test(an_answer_ends_with_its_end_token),
        cmocka_unit_test(the_context_ends_an_answer),
        cmocka_unit_test(the_caller_can_end_an_answer),
        cmocka_unit_test(a_shared_batch_changes_nothing),
        cmocka_unit_test(bad_parameters_are_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
