/*
 * test_ggml_libm.c - our expf, logf, powf and sincosf against the host's libm
 * (glibc on a machine with FMA), and single conversions.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "numerics/ggml/libm.h"
#include "numerics/ggml/scalar.h"

/* Coprime to 2^32: every exponent and all kinds of fractions come up. */
enum { STRIDE = 1009 };

static void same(const char *what, float x, float ours, float theirs)
{
    if (bits_of(ours) != bits_of(theirs) && !(ours != ours && theirs != theirs))
        fail_msg("%s(%a): %a, libm says %a", what, (double)x, (double)ours,
                 (double)theirs);
}

static void expf_and_logf_equal_glibc(void **state)
{
    (void)state;
    for (uint64_t u = 0; u < UINT64_C(1) << 32; u += STRIDE) {
        float x = float_of((uint32_t)u);

        same("exp", x, ggml_expf(x), expf(x));
        same("log", x, ggml_logf(x), logf(x));
    }
}

static void sincosf_equals_glibc(void **state)
{
    (void)state;
    for (uint64_t u = 0; u < UINT64_C(1) << 32; u += STRIDE) {
        float x = float_of((uint32_t)u), s, c, sin, cos;

        ggml_sincosf(x, &s, &c);
        sincosf(x, &sin, &cos);
        same("sin", x, s, sin);
        same("cos", x, c, cos);
    }
}

static void powf_equals_glibc_for_rope_bases(void **state)
{
    uint32_t z = 1;

    (void)state;
    for (int i = 0; i < 2000000; i++) {
        float base, y;

        z = z * 1664525 + 1013904223;
        base = float_of(0x3f800000 + z % 0x0d000000);
        z = z * 1664525 + 1013904223;
        y = -2.0f / (float)(2 + 2 * (z >> 8) % 512);
        same("pow", base, ggml_powf(base, y), powf(base, y));
    }
}

static void every_half_comes_back(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t back = f16_of(float_from_f16((uint16_t)h));
        uint32_t nan = (h & 0x7fff) > 0x7c00 ? 0x0200 : 0;

        assert_int_equal(back, h | nan);
    }
}

static void halves_and_bfloats_round_to_even(void **state)
{
    (void)state;
    assert_int_equal(f16_of(0x1.002p0f), 0x3c00); /* tie, down */
    assert_int_equal(f16_of(0x1.006p0f), 0x3c02); /* tie, up */
    assert_int_equal(f16_of(0x1.ffdp15f), 0x7bff);
    assert_int_equal(f16_of(0x1.ffep15f), 0x7c00); /* infinity */
    assert_int_equal(f16_of(0x1p-25f), 0);         /* tie, down */
    assert_int_equal(f16_of(0x1.8p-24f), 2);       /* tie, up */
    assert_int_equal(bf16_of(0x1.01p0f), 0x3f80);  /* tie, down */
    assert_int_equal(bf16_of(0x1.03p0f), 0x3f82);  /* tie, up */
    assert_int_equal(bf16_of(0x1p-149f), 0);
}

/* The limits of VDPBF16PS's flush, as the instruction was seen to do. */
static void a_step_of_vdpbf16ps_flushes_below_the_least_normal(void **state)
{
    const uint16_t one[2] = {0, 0x3f80}, tiny[2] = {0, 0x0001};
    const uint16_t small[2] = {0, bf16_of(0x1.8p-75f)};
    const uint16_t less[2] = {0, bf16_of(-0x1p-76f)};

    (void)state;
    assert_int_equal(bits_of(dp_bf16(0.0f, one, tiny)), 0);
    assert_int_equal(bits_of(dp_bf16(-0x1p-140f, one, tiny)), 0);
    /* 2^-126 - 0.75 * 2^-150 rounds to 2^-126 as a subnormal, but is tiny. */
    assert_int_equal(bits_of(dp_bf16(0x1p-126f, small, less)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expf_and_logf_equal_glibc),
        cmocka_unit_test(sincosf_equals_glibc),
        cmocka_unit_test(powf_equals_glibc_for_rope_bases),
        cmocka_unit_test(every_half_comes_back),
        cmocka_unit_test(halves_and_bfloats_round_to_even),
        cmocka_unit_test(a_step_of_vdpbf16ps_flushes_below_the_least_normal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
