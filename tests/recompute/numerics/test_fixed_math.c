/*
 * test_fixed_math.c - the functions of numerics `fixed` against libm in
 * double: how many units in the last place they are off, over every
 * STRIDE-th float (all of them with the argument "all").
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/fixed/fixed_math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static uint32_t stride = 1009; /* a prime, so that all low bits occur */

/* Distance of x from the real number y, in units of y's last float32 place. */
static double ulps(float x, double y)
{
    int exponent;

    if (isinf(x) || isinf((float)y))
        return x == (float)y ? 0 : INFINITY;
    (void)frexp(y, &exponent);
    if (exponent < -125)
        exponent = -125; /* subnormal: the last place stays */
    return fabs(((double)x - y) / ldexp(1.0, exponent - 24));
}

static double worst_exp(float from, float to)
{
    double worst = 0;

    /* Positive floats and negative ones each in the order of their bits. */
    for (uint64_t u = 0; u <= UINT32_MAX; u += stride) {
        float x = float_of((uint32_t)u);

        if (x >= from && x <= to) {
            double e = ulps(fixed_exp(x), exp((double)x));

            worst = e > worst ? e : worst;
        }
    }
    return worst;
}

static void exp_is_within_one_ulp(void **state)
{
    double worst = worst_exp(-104.0f, 89.0f);

    (void)state;
    print_message("exp: worst %.4f ULP\n", worst);
    assert_true(worst < 1.0);
}

static void exp_ends_in_zero_and_infinity(void **state)
{
    (void)state;
    assert_true(fixed_exp(-INFINITY) == 0.0f);
    assert_true(fixed_exp(-1e30f) == 0.0f);
    assert_true(fixed_exp(0.0f) == 1.0f);
    assert_true(fixed_exp(-0.0f) == 1.0f);
    assert_true(fixed_exp(INFINITY) == INFINITY);
    assert_true(fixed_exp(89.0f) == INFINITY);
    assert_true(fixed_exp(88.72f) < INFINITY);
    assert_true(fixed_exp(-103.9f) == 0x1p-149f);
    assert_true(isnan(fixed_exp(NAN)));
}

static void log_is_within_one_ulp(void **state)
{
    double worst = 0;

    (void)state;
    for (uint64_t u = 1; u < 0x7f800000u; u += stride) {
        float x = float_of((uint32_t)u);
        double e = ulps(fixed_log(x), log((double)x));

        worst = e > worst ? e : worst;
    }
    print_message("log: worst %.4f ULP\n", worst);
    assert_true(worst < 1.0);
}

static void log_knows_its_edges(void **state)
{
    (void)state;
    assert_true(fixed_log(0.0f) == -INFINITY);
    assert_true(fixed_log(-0.0f) == -INFINITY);
    assert_true(fixed_log(1.0f) == 0.0f);
    assert_true(fixed_log(INFINITY) == INFINITY);
    assert_true(isnan(fixed_log(-1.0f)));
    assert_true(isnan(fixed_log(NAN)));
}

static void doubles_are_near_libm(void **state)
{
    double s, c, worst = 0;

    (void)state;
    for (double x = 0; x < 1048576; x += 3.14159 / 7 + x * 1e-4) {
        fixed_sincos_double(x, &s, &c);
        worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
    }
    print_message("sin, cos: worst %.3g\n", worst);
    assert_true(worst < 0x1p-50);
    for (double x = -40; x < 40; x += 0.00137)
        assert_true(fabs(fixed_exp_double(x) / exp(x) - 1) < 0x1p-50);
    for (double x = 0x1p-20; x < 1e12; x *= 1.00137)
        assert_true(fabs(fixed_log_double(x) - log(x)) <
                    0x1p-50 * (1 + fabs(log(x))));
}

/* IEEE 754-2019 section 3.6 in double arithmetic, which is exact here. */
static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double sign = h & 0x8000 ? -1.0 : 1.0;

    if (exponent == 31)
        return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static void halves_are_widened_exactly(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        double want = half_value((uint16_t)h);
        float have = float_from_f16((uint16_t)h);

        assert_true(isnan(want) ? isnan(have)
                                : bits_of(have) == bits_of((float)want));
    }
    assert_int_equal(bits_of(float_from_bf16(0x3f80)), 0x3f800000);
    assert_int_equal(bits_of(float_from_bf16(0x8001)), 0x80010000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_one_ulp),
        cmocka_unit_test(exp_ends_in_zero_and_infinity),
        cmocka_unit_test(log_is_within_one_ulp),
        cmocka_unit_test(log_knows_its_edges),
        cmocka_unit_test(doubles_are_near_libm),
        cmocka_unit_test(halves_are_widened_exactly),
    };

    if (argc > 1 && strcmp(argv[1], "all") == 0)
        stride = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
