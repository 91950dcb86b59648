/*
 * test_llama_sampler.c - the parts of llama.cpp's sampler chain: random words,
 * sorts, and single steps with answers worked out by hand. The whole chain
 * stands against an independent one in test_llama_draws.py.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/llama/sampler/candidate_sort.h"
#include "engine/llama/sampler/mersenne.h"
#include "engine/llama/sampler/sampler.h"

/* ISO C++ 26.6.6: the 10000th word of a default mt19937. */
static void random_words_are_those_of_the_standard(void **state)
{
    struct mersenne m;
    uint32_t word = 0;

    (void)state;
    mersenne_init(&m, 5489);
    for (int i = 0; i < 10000; i++)
        word = mersenne_word(&m);
    assert_int_equal(word, 4123659995u);
}

static uint64_t digest(const struct rated *v, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;

    for (size_t i = 0; i < n; i++)
        h = (h ^ v[i].id) * 0x100000001b3;
    return h;
}

static void equal_values_lie_as_the_cpp_library_leaves_them(void **state)
{
    FILE *golden = fopen(GOLDEN_ORDER, "r");
    unsigned long long want;
    size_t n, n_top, rows = 0;
    unsigned seed, span;
    char kind;

    (void)state;
    assert_non_null(golden);
    while (fscanf(golden, " %c %zu %zu %u %u %llx", &kind, &n, &n_top, &seed,
                  &span, &want) == 6) {
        struct rated *v = calloc(n, sizeof *v);
        struct mersenne m;

        assert_non_null(v);
        mersenne_init(&m, seed);
        for (uint32_t i = 0; i < n; i++)
            v[i] = (struct rated){i, (float)(mersenne_word(&m) % span), 0};
        if (kind == 'a')
            candidate_sort_all(v, n);
        else
            candidate_sort_partial(v, n_top, n);
        assert_true(digest(v, n_top) == want);
        free(v);
        rows++;
    }
    (void)fclose(golden);
    assert_int_equal(rows, 288);
}

static void buckets_find_the_same_best_ones(void **state)
{
    enum { SIZE = 5000 };
    struct rated *v = calloc(SIZE, sizeof *v), *out = calloc(SIZE, sizeof *v);
    struct mersenne m;

    (void)state;
    assert_non_null(v);
    assert_non_null(out);
    mersenne_init(&m, 9);
    for (uint32_t i = 0; i < SIZE; i++)
        v[i] = (struct rated){i, (float)(mersenne_unit(&m) * 40 - 25), 0};
    v[17].logit = -INFINITY;
    for (size_t top = 1; top <= SIZE; top += 357) {
        size_t have = candidate_sort_buckets(v, SIZE, top, out), better = 0;

        assert_true(have >= top && have <= SIZE);
        for (size_t i = 1; i < top; i++)
            assert_true(out[i - 1].logit >= out[i].logit);
        for (size_t i = 0; i < SIZE; i++)
            better += v[i].logit > out[top - 1].logit;
        assert_true(better < top);
    }
    free(v);
    free(out);
}

static uint32_t choose(struct llama_sampler *p, const float *logits)
{
    uint32_t id;

    assert_int_equal(llama_sampler_choose(p, logits, &id), 0);
    return id;
}

static struct llama_sampler *open_sampler(const struct llama_sampling *s,
                                          uint32_t vocab)
{
    struct llama_sampler *p;

    assert_int_equal(llama_sampler_open(s, vocab, &p), 0);
    return p;
}

static void without_temperature_the_largest_is_taken(void **state)
{
    const float logits[] = {1, 3, 2, 3};
    struct llama_sampling s;
    struct llama_sampler *p;

    (void)state;
    llama_sampling_init(&s);
    assert_false(llama_sampling_greedy(&s));
    s.temperature = 0;
    assert_true(llama_sampling_greedy(&s));
    p = open_sampler(&s, 4);
    for (int i = 0; i < 50; i++)
        assert_int_equal(choose(p, logits), 1);
    assert_true(llama_sampler_possible(p, 1));
    assert_false(llama_sampler_possible(p, 2));
    llama_sampler_close(p);
}

static void a_banned_token_never_comes(void **state)
{
    const float logits[] = {5, 1, 0};
    const struct llama_bias bias[] = {{0, -INFINITY}, {9, 1}, {2, 3}};
    struct llama_sampling s;
    struct llama_sampler *p;

    (void)state;
    llama_sampling_init(&s);
    s.temperature = 0;
    s.biases = bias;
    s.n_biases = 3;
    p = open_sampler(&s, 3);
    assert_int_equal(choose(p, logits), 2);
    llama_sampler_close(p);
}

/* 4 / 2 = 2 and -1 * 2 - 0.5 * 2 - 0.25; 1.5 is untouched. */
static void penalties_count_the_last_tokens_only(void **state)
{
    const float logits[] = {4, -1, 1.5f};
    struct llama_sampling s;
    struct llama_sampler *p;

    (void)state;
    llama_sampling_init(&s);
    s.temperature = 0;
    s.repeat = 2;
    s.frequency = 0.5f;
    s.presence = 0.25f;
    s.last_n = 2;
    p = open_sampler(&s, 3);
    assert_int_equal(choose(p, logits), 0);
    assert_int_equal(llama_sampler_accept(p, 0), 0); /* 2 - 0.75 */
    assert_int_equal(choose(p, logits), 2);
    assert_int_equal(llama_sampler_accept(p, 2), 0); /* 0.75 - 0.75 */
    assert_int_equal(choose(p, logits), 0);
    assert_int_equal(llama_sampler_accept(p, 1), 0); /* 0 is forgotten */
    assert_int_equal(choose(p, logits), 0);
    llama_sampler_close(p);
}

/* One candidate is left of the first row, two of the second: whether the
 * first row draws moves the second's choice. */
static void the_recipe_says_whether_one_candidate_draws(void **state)
{
    const float one[] = {50, 0, 0}, two[] = {1, 1, -50};
    struct llama_sampling s;
    unsigned moved = 0;

    (void)state;
    llama_sampling_init(&s);
    for (s.seed = 1; s.seed <= 64; s.seed++) {
        struct llama_sampler *p[2];
        uint32_t id[2];

        for (int i = 0; i < 2; i++) {
            s.draws_single = i == 1;
            p[i] = open_sampler(&s, 3);
            assert_int_equal(choose(p[i], one), 0);
            id[i] = choose(p[i], two);
            llama_sampler_close(p[i]);
        }
        moved += id[0] != id[1];
    }
    assert_in_range(moved, 16, 48);
}

static void a_nan_is_refused(void **state)
{
    const float logits[] = {0, NAN};
    struct llama_sampling s;
    struct llama_sampler *p;
    uint32_t id;

    (void)state;
    llama_sampling_init(&s);
    p = open_sampler(&s, 2);
    assert_int_equal(llama_sampler_choose(p, logits, &id), -EDOM);
    llama_sampler_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_words_are_those_of_the_standard),
        cmocka_unit_test(equal_values_lie_as_the_cpp_library_leaves_them),
        cmocka_unit_test(buckets_find_the_same_best_ones),
        cmocka_unit_test(without_temperature_the_largest_is_taken),
        cmocka_unit_test(a_banned_token_never_comes),
        cmocka_unit_test(penalties_count_the_last_tokens_only),
        cmocka_unit_test(the_recipe_says_whether_one_candidate_draws),
        cmocka_unit_test(a_nan_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
