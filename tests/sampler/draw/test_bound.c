/*
 * test_bound.c - tests of draw/bound.c: published tables, and all small
 * populations against exact binomials.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

/* The columns of the table: 95, 99 and 99.9 % confidence. */
static const uint32_t confidence[3] = {950000, 990000, 999000};

static void sample_sizes_equal_the_published_table(void **state)
{
    static const struct {
        uint64_t units, bad, size[3];
    } rows[] = {
        {1000, 10, {258, 368, 497}},
        {1000, 50, {57, 86, 126}},
        {10000, 10, {2588, 3689, 4986}},
        {10000, 100, {294, 448, 665}},
        {100000, 100, {2950, 4499, 6672}},
        {100000, 1000, {298, 458, 685}},
        {1000000, 100, {29512, 45006, 66743}},
        {1000000, 1000, {2990, 4593, 6881}},
        {1000000, 10000, {299, 459, 688}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(bound_sample_size(rows[i].units, rows[i].bad,
                                               risk_of(confidence[c], 1)),
                             rows[i].size[c]);
    assert_int_equal(bound_sample_size(1000000, 1, risk_of(990000, 1)), 990001);
}

static void upper_bounds_equal_the_published_table(void **state)
{
    /* Units from exact fractions; the table prints 0.993 % and so on. */
    static const struct {
        uint64_t units, drawn, failed, bad;
        uint32_t ppm;
    } rows[] = {
        {1000000, 300, 0, 9934, 9934},   {1000000, 300, 1, 15712, 15712},
        {1000000, 300, 2, 20834, 20834}, {1000000, 3000, 0, 996, 996},
        {1000000, 3000, 1, 1578, 1578},  {1000000, 3000, 2, 2094, 2094},
        {10000, 300, 0, 97, 9700},       {10000, 300, 1, 155, 15500},
        {10000, 300, 2, 206, 20600},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t bad = bound_bad_units(rows[i].units, rows[i].drawn,
                                       rows[i].failed, risk_of(950000, 1));

        assert_int_equal(bad, rows[i].bad);
        assert_int_equal(bound_ppm(bad, rows[i].units), rows[i].ppm);
    }
}

enum { SMALL = 24 }; /* C(24, 12) * 10^6 fits 64 bits */

static uint64_t choose(uint64_t n, uint64_t k)
{
    uint64_t c = 1;

    if (k > n)
        return 0;
    for (uint64_t i = 0; i < k; i++)
        c = c * (n - i) / (i + 1);
    return c;
}

/* P(X <= failed) compared with the risk, exactly: -1, 0, 1. */
static int compare(uint64_t units, uint64_t bad, uint64_t drawn,
                   uint64_t failed, struct risk r)
{
    uint64_t ways = 0, left, right;

    for (uint64_t j = 0; j <= failed && j <= bad && j <= drawn; j++)
        ways += choose(bad, j) * choose(units - bad, drawn - j);
    left = ways * r.den;
    right = choose(units, drawn) * r.num;
    return left < right ? -1 : left > right;
}

static void check_small(uint64_t units, uint64_t drawn, uint64_t failed,
                        struct risk r)
{
    uint64_t bad = bound_bad_units(units, drawn, failed, r);

    /* Everything above is excluded; the bound itself is possible, or sits on
     * the limit exactly. */
    for (uint64_t k = bad + 1; k <= units; k++)
        assert_true(compare(units, k, drawn, failed, r) <= 0);
    assert_true(compare(units, bad, drawn, failed, r) >= 0);
}

static void every_small_bound_is_exact(void **state)
{
    static const uint32_t levels[] = {500000, 900000, 950000, 999000};

    (void)state;
    for (uint64_t units = 1; units <= SMALL; units++)
        for (uint64_t drawn = 0; drawn <= units; drawn++)
            for (uint64_t failed = 0; failed <= drawn; failed++)
                for (size_t c = 0; c < 4; c++)
                    check_small(units, drawn, failed, risk_of(levels[c], 1));
}

static void every_small_sample_size_is_exact(void **state)
{
    struct risk r = risk_of(950000, 1);

    (void)state;
    for (uint64_t units = 1; units <= SMALL; units++)
        for (uint64_t bad = 1; bad <= units; bad++) {
            uint64_t n = bound_sample_size(units, bad, r);

            assert_true(compare(units, bad, n, 0, r) <= 0);
            if (n > 0)
                assert_true(compare(units, bad, n - 1, 0, r) >= 0);
        }
}

static void a_census_bounds_exactly_what_failed(void **state)
{
    (void)state;
    assert_int_equal(bound_bad_units(500, 500, 0, risk_of(990000, 1)), 0);
    assert_int_equal(bound_bad_units(500, 500, 7, risk_of(990000, 1)), 7);
}

static void nothing_drawn_bounds_nothing(void **state)
{
    (void)state;
    assert_int_equal(bound_bad_units(500, 0, 0, risk_of(990000, 1)), 500);
    assert_int_equal(bound_ppm(0, 0), PPM);
}

static void everything_failed_leaves_everything_possible(void **state)
{
    (void)state;
    assert_int_equal(bound_bad_units(1000, 10, 10, risk_of(990000, 1)), 1000);
}

static void one_failure_more_never_lowers_the_bound(void **state)
{
    uint64_t last = 0;

    (void)state;
    for (uint64_t failed = 0; failed <= 200; failed++) {
        uint64_t b = bound_bad_units(5000, 200, failed, risk_of(950000, 1));

        assert_true(b >= last);
        last = b;
    }
}

/* P(no bad unit among the drawn), in ppm: the smallest risk at which so many
 * drawn are a sample large enough. */
static uint64_t miss_ppm(uint64_t units, uint64_t bad, uint64_t drawn)
{
    uint64_t low = 0, high = PPM;

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        if (bound_sample_size(units, bad, (struct risk){mid, PPM}) <= drawn)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Of two units one is drawn: it misses the bad one with a chance of exactly a
 * half, which no step had to round. */
static void a_chance_that_is_the_risk_itself_is_at_most_it(void **state)
{
    struct risk half = risk_of(500000, 1);

    (void)state;
    assert_int_equal(bound_sample_size(2, 1, half), 1);
    assert_int_equal(bound_bad_units(2, 1, 0, half), 0);
    assert_int_equal(bound_sample_size(2, 1, (struct risk){499999, PPM}), 2);
    assert_int_equal(bound_bad_units(2, 1, 0, (struct risk){499999, PPM}), 1);
}

static void missing_is_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(miss_ppm(3, 1, 1), 666667);
    /* Exactly 999540 ppm: a tie goes one up, as bound.h says. */
    assert_int_equal(miss_ppm(1000000, 1, 460), 999541);
    assert_true(miss_ppm(1000000, 10000, 459) <= 10000);
    assert_int_equal(miss_ppm(10, 1, 0), PPM);
    assert_int_equal(miss_ppm(10, 5, 6), 0);
}

static void a_share_is_rounded_to_units_that_reach_it(void **state)
{
    (void)state;
    assert_int_equal(bound_units_of(10000, 1000), 10);
    assert_int_equal(bound_units_of(10000, 1001), 11);
    assert_int_equal(bound_units_of(1, 10), 1);
    assert_int_equal(bound_units_of(PPM, 10), 10);
    assert_int_equal(bound_ppm(1, 3), 333334);
}

static void strata_share_the_risk_unless_certain(void **state)
{
    struct stratum_count s[] = {
        {10000, 300, 0, 0}, {10000, 300, 1, 0}, {40, 40, 2, 0}, {7, 0, 0, 0}};
    uint64_t sum = bound_strata(s, 4, 950000);

    (void)state;
    assert_int_equal(s[0].bound,
                     bound_bad_units(10000, 300, 0, risk_of(950000, 2)));
    assert_int_equal(s[1].bound,
                     bound_bad_units(10000, 300, 1, risk_of(950000, 2)));
    assert_true(s[0].bound > 97);
    assert_int_equal(s[2].bound, 2);
    assert_int_equal(s[3].bound, 7);
    assert_int_equal(sum, s[0].bound + s[1].bound + 9);
}

static void one_stratum_keeps_the_whole_risk(void **state)
{
    struct stratum_count s = {10000, 300, 0, 0};

    (void)state;
    assert_int_equal(bound_strata(&s, 1, 950000), 97);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_sizes_equal_the_published_table),
        cmocka_unit_test(upper_bounds_equal_the_published_table),
        cmocka_unit_test(every_small_bound_is_exact),
        cmocka_unit_test(every_small_sample_size_is_exact),
        cmocka_unit_test(a_census_bounds_exactly_what_failed),
        cmocka_unit_test(nothing_drawn_bounds_nothing),
        cmocka_unit_test(everything_failed_leaves_everything_possible),
        cmocka_unit_test(one_failure_more_never_lowers_the_bound),
        cmocka_unit_test(a_chance_that_is_the_risk_itself_is_at_most_it),
        cmocka_unit_test(missing_is_rounded_up),
        cmocka_unit_test(a_share_is_rounded_to_units_that_reach_it),
        cmocka_unit_test(strata_share_the_risk_unless_certain),
        cmocka_unit_test(one_stratum_keeps_the_whole_risk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
