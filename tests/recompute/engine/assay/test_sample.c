/*
 * test_sample.c - the sampler does what docs/numerics-fixed.md says.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "numerics/fixed/fixed_math.h"
#include "recompute/sample.h"

enum { N = 10 };

/* Two pairs of equals; the order is 3, 6, 1, 4, 0, 9, 2, 5, 7, 8. */
static const float logits[N] = {0.5f,  1.5f, -1.0f, 3.0f,  1.0f,
                                -1.0f, 3.0f, -2.0f, -9.0f, 0.25f};

static uint32_t choose(const struct sampling *s, uint32_t position)
{
    struct sample_place at = {0, position};
    struct candidate top[N], c;

    assert_int_equal(sample_token(s, at, (struct logits){logits, N}, top, &c),
                     0);
    return c.id;
}

/* The published known answers of Random123 (kat_vectors, philox4x32 10). */
static void philox_gives_its_published_answers(void **state)
{
    static const uint32_t v[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
         0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
         0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    uint32_t out[4];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        philox4x32(v[i], v[i] + 4, out);
        assert_memory_equal(out, v[i] + 6, sizeof(out));
    }
}

static void greedy_takes_the_first_of_the_largest(void **state)
{
    struct sampling s;

    (void)state;
    sampling_init(&s);
    assert_int_equal(choose(&s, 0), 3);
    s.temperature = 1.0f;
    s.top_k = 1;
    for (uint32_t p = 0; p < 100; p++)
        assert_int_equal(choose(&s, p), 3);
}

static void alternatives_come_in_order_with_logprobs(void **state)
{
    static const uint32_t order[N] = {3, 6, 1, 4, 0, 9, 2, 5, 7, 8};
    struct sampling s;
    struct candidate top[N], c;
    double sum = 0;

    (void)state;
    sampling_init(&s);
    s.n_top = N;
    assert_int_equal(sample_token(&s, (struct sample_place){0, 0},
                                  (struct logits){logits, N}, top, &c),
                     0);
    for (size_t i = 0; i < N; i++)
        sum += exp((double)logits[i] - 3.0);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(top[i].id, order[i]);
        assert_true(fabs(top[i].logprob -
                         ((double)logits[order[i]] - 3.0 - log(sum))) < 1e-6);
    }
    assert_int_equal(float_bits(c.logprob), float_bits(top[0].logprob));
}

/* Which tokens ever come, as a bit set. */
static unsigned seen(const struct sampling *s)
{
    unsigned set = 0;

    for (uint32_t p = 0; p < 4000; p++)
        set |= 1u << choose(s, p);
    return set;
}

static void filters_keep_what_they_say(void **state)
{
    struct sampling s;

    (void)state;
    sampling_init(&s);
    s.temperature = 3.0f;
    s.top_k = 3;
    assert_int_equal(seen(&s), 1 << 3 | 1 << 6 | 1 << 1);
    s.temperature = 1.0f;
    s.top_k = 0;
    /* exp(z - 3): 1 1 .223 .135 .082 .064 ... of 2.54: 1/2.54 = .394 */
    s.top_p = 0.39f;
    assert_int_equal(seen(&s), 1 << 3);
    s.top_p = 0.40f;
    assert_int_equal(seen(&s), 1 << 3 | 1 << 6);
    s.top_p = 0.80f;
    assert_int_equal(seen(&s), 1 << 3 | 1 << 6 | 1 << 1);
    s.top_p = 1.0f;
    s.min_p = 0.10f;
    assert_int_equal(seen(&s), 1 << 3 | 1 << 6 | 1 << 1 | 1 << 4);
    s.min_p = 1.0f;
    assert_int_equal(seen(&s), 1 << 3 | 1 << 6);
    /* top_p counts within what top_k left: .394 of all, .5 of two. */
    s.min_p = 0.0f;
    s.top_k = 2;
    s.top_p = 0.49f;
    assert_int_equal(seen(&s), 1 << 3);
    s.top_p = 0.51f;
    assert_int_equal(seen(&s), 1 << 3 | 1 << 6);
}

/* Pearson's test with 9 degrees of freedom: above 33.7 once in 10,000. */
static void draws_follow_the_distribution(void **state)
{
    enum { DRAWS = 40000 };
    double count[N] = {0}, sum = 0, chi = 0, T = 1.7;
    struct sampling s;

    (void)state;
    sampling_init(&s);
    s.temperature = (float)T;
    s.seed = 12345;
    for (uint32_t p = 0; p < DRAWS; p++)
        count[choose(&s, p)]++;
    for (size_t i = 0; i < N; i++)
        sum += exp((double)logits[i] / T);
    for (size_t i = 0; i < N; i++) {
        double want = DRAWS * exp((double)logits[i] / T) / sum;

        chi += (count[i] - want) * (count[i] - want) / want;
    }
    assert_true(chi < 33.7);
}

static void seed_position_and_choice_each_matter(void **state)
{
    struct sampling s;
    struct candidate a, b, c, d;
    int differ[3] = {0};

    (void)state;
    sampling_init(&s);
    s.temperature = 5.0f;
    for (uint32_t p = 0; p < 64; p++) {
        s.seed = 1;
        (void)sample_token(&s, (struct sample_place){0, p},
                           (struct logits){logits, N}, NULL, &a);
        (void)sample_token(&s, (struct sample_place){1, p},
                           (struct logits){logits, N}, NULL, &b);
        (void)sample_token(&s, (struct sample_place){0, p + 64},
                           (struct logits){logits, N}, NULL, &c);
        s.seed = 1 + (1ull << 32);
        (void)sample_token(&s, (struct sample_place){0, p},
                           (struct logits){logits, N}, NULL, &d);
        differ[0] += a.id != b.id;
        differ[1] += a.id != c.id;
        differ[2] += a.id != d.id;
    }
    for (int i = 0; i < 3; i++)
        assert_true(differ[i] > 32);
}

static void what_has_no_order_is_refused(void **state)
{
    float bad[3] = {1.0f, NAN, 2.0f};
    struct sampling s;
    struct candidate c;
    struct sample_place at = {0, 0};

    (void)state;
    sampling_init(&s);
    assert_int_equal(sample_token(&s, at, (struct logits){bad, 3}, NULL, &c),
                     -EDOM);
    bad[1] = INFINITY;
    assert_int_equal(sample_token(&s, at, (struct logits){bad, 3}, NULL, &c),
                     -EDOM);
    bad[0] = bad[1] = bad[2] = -INFINITY;
    assert_int_equal(sample_token(&s, at, (struct logits){bad, 3}, NULL, &c),
                     -EDOM);
    bad[2] = 0.0f;
    s.temperature = 1.0f;
    assert_int_equal(sample_token(&s, at, (struct logits){bad, 3}, NULL, &c),
                     0);
    assert_int_equal(c.id, 2);
    assert_int_equal(float_bits(c.logprob), 0);
}

static void parameters_out_of_range_are_refused(void **state)
{
    const struct sampling bad[] = {
        {.temperature = -1.0f, .top_p = 1.0f},
        {.temperature = NAN, .top_p = 1.0f},
        {.temperature = INFINITY, .top_p = 1.0f},
        {.top_p = 0.0f},
        {.top_p = 1.5f},
        {.top_p = NAN},
        {.top_p = 1.0f, .min_p = -0.1f},
        {.top_p = 1.0f, .min_p = 1.1f},
        {.top_p = 1.0f, .n_top = SAMPLE_TOP_MAX + 1},
    };
    struct sampling good;

    (void)state;
    sampling_init(&good);
    assert_true(sampling_valid(&good));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(sampling_valid(&bad[i]));
}

/* The noise of what cannot win is not made; that must change nothing, for a
 * vocabulary of a real size and logits far apart. */
static void skipping_changes_nothing(void **state)
{
    enum { BIG = 3000 };
    float *z = malloc(BIG * sizeof *z);
    struct sampling s;
    uint32_t rng = 1;

    (void)state;
    assert_non_null(z);
    sampling_init(&s);
    s.temperature = 1.0f;
    for (uint32_t p = 0; p < 40; p++) {
        uint32_t best = 0, word[4], key[2] = {0, 0};
        float most = -INFINITY;
        struct candidate c;

        for (size_t i = 0; i < BIG; i++) {
            rng = rng * 1664525 + 1013904223;
            z[i] = (float)(rng >> 8) * 0x1p-24f * (float)(p + 1);
        }
        assert_int_equal(sample_token(&s, (struct sample_place){2, p},
                                      (struct logits){z, BIG}, NULL, &c),
                         0);
        for (uint32_t i = 0; i < BIG; i++) {
            uint32_t counter[4] = {i / 4, p, 2, 0};
            float u, v;

            philox4x32(counter, key, word);
            u = (float)((word[i % 4] >> 9) * 2 + 1) * 0x1p-24f;
            v = z[i] + -fixed_log(-fixed_log(u));
            if (v > most) {
                most = v;
                best = i;
            }
        }
        assert_int_equal(c.id, best);
    }
    free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_its_published_answers),
        cmocka_unit_test(greedy_takes_the_first_of_the_largest),
        cmocka_unit_test(alternatives_come_in_order_with_logprobs),
        cmocka_unit_test(filters_keep_what_they_say),
        cmocka_unit_test(draws_follow_the_distribution),
        cmocka_unit_test(seed_position_and_choice_each_matter),
        cmocka_unit_test(what_has_no_order_is_refused),
        cmocka_unit_test(parameters_out_of_range_are_refused),
        cmocka_unit_test(skipping_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
