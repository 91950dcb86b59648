/*
 * test_kernels.c - every kernel of every instruction set gives the bits of
 * fixed_kernels_ref.c: random, extreme and special numbers, odd sizes, any cut.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmmintrin.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "numerics/fixed/fixed.h"
#include "numerics/fixed/fixed_math.h"

enum { BIG = 1100, ROWS = 13 };

/* What the numbers of a case are like. */
enum kind { KIND_PLAIN, KIND_WIDE, KIND_TINY, KIND_SPECIAL, KINDS };

static uint64_t random_state;

/* xorshift64* (Vigna, arXiv 1402.6246) */
static uint32_t random_word(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)(random_state * 0x2545f4914f6cdd1dull >> 32);
}

static float random_float(enum kind kind)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234,
        0x7f800001, 0x7f7fffff, 0xff7fffff, 0x00000001, 0x80000001, 0x007fffff,
    };
    uint32_t w = random_word();
    float plain = ((float)(w >> 8) * 0x1p-23f - 1.0f) * 2.0f;

    if (kind == KIND_WIDE) /* any finite number but the very large */
        return float_of((w & 0x87ffffffu) | (random_word() % 20 + 50) << 24);
    if (kind == KIND_TINY)
        return float_of(w & 0x81ffffffu);
    if (kind == KIND_SPECIAL && random_word() % 16 == 0)
        return float_of(special[w % 12]);
    return plain;
}

static void fill(float *p, size_t n, enum kind kind)
{
    for (size_t i = 0; i < n; i++)
        p[i] = random_float(kind);
}

static void same(const char *what, const struct fixed_kernels *k,
                 const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bits_of(a[i]) != bits_of(b[i]))
            fail_msg("%s %s: %zu of %zu: %08x, not %08x", what, k->name, i, n,
                     bits_of(b[i]), bits_of(a[i]));
}

/* A random matrix of n x k in panels. */
static struct fixed_panels random_panels(enum fixed_type type, enum kind kind,
                                         size_t n, size_t k)
{
    struct fixed_panels w = {.type = type, .n = n, .k = k};
    size_t count = (n + FIXED_PANEL - 1) / FIXED_PANEL,
           size = type == FIXED_F32 ? 4 : 2;
    uint8_t *rows = malloc(FIXED_PANEL * k * size), *data;
    const uint8_t *row[FIXED_PANEL];

    w.pitch = fixed_panel_bytes(type, k);
    data = aligned_alloc(64, count * w.pitch);
    assert_non_null(rows);
    assert_non_null(data);
    for (size_t r = 0; r < FIXED_PANEL; r++)
        row[r] = rows + r * k * size;
    for (size_t p = 0; p < count; p++) {
        for (size_t i = 0; i < FIXED_PANEL * k; i++) {
            float x = random_float(kind);
            uint32_t u = bits_of(x);
            uint16_t h = type == FIXED_BF16 ? (uint16_t)(u >> 16)
                                            : (uint16_t)random_word();

            /* A random half is mostly large: keep to the plain range. */
            if (type == FIXED_F16 && kind != KIND_SPECIAL)
                h = (uint16_t)((h & 0x83ff) | (8 + h % 8) << 10);
            memcpy(rows + i * size, size == 4 ? (void *)&u : (void *)&h, size);
        }
        fixed_panel_pack(&w, row,
                         n - p * FIXED_PANEL < FIXED_PANEL ? n - p * FIXED_PANEL
                                                           : FIXED_PANEL,
                         data + p * w.pitch);
    }
    free(rows);
    w.data = data;
    return w;
}

/* The same tile by both; rows at most the kernels' tile. */
static void compare_tile(const struct fixed_kernels *k,
                         const struct fixed_panels *w, size_t rows,
                         enum kind kind)
{
    size_t panels = (w->n + FIXED_PANEL - 1) / FIXED_PANEL;
    float *x = malloc(rows * w->k * sizeof *x);
    float *a = malloc(rows * w->n * sizeof *a);
    float *b = malloc(rows * w->n * sizeof *b);
    struct fixed_tile t = {.x = x, .rows = rows, .w = w, .stride = w->n};

    assert_non_null(x);
    assert_non_null(a);
    assert_non_null(b);
    fill(x, rows * w->k, kind);
    fill(a, rows * w->n, kind);
    memcpy(b, a, rows * w->n * sizeof *a);
    for (t.go_on = 0; t.go_on < 2; t.go_on++) {
        t.first = 0;
        t.end = panels;
        t.out = a;
        fixed_kernels_ref.tile(&t);
        t.out = b;
        t.end = random_word() % (panels + 1); /* any cut of the panels */
        k->tile(&t);
        t.first = t.end;
        t.end = panels;
        k->tile(&t);
        same("tile", k, a, b, rows * w->n);
    }
    free(x);
    free(a);
    free(b);
}

static void tiles_equal_the_definition(void **state)
{
    static const size_t ks[] = {1, 2, 3, 8, 63, 64, 257, BIG};
    static const size_t ns[] = {1, 8, 15, 16, 17, 48, 65, 130, 200};

    (void)state;
    for (const struct fixed_kernels *const *k = fixed_kernels_all() + 1;
         *k != NULL; k++)
        for (int i = 0; i < 900; i++) {
            enum fixed_type type = (enum fixed_type)(i % 3);
            enum kind kind = (enum kind)(i / 3 % KINDS);
            struct fixed_panels w = random_panels(
                type, kind, ns[random_word() % 9], ks[random_word() % 8]);

            compare_tile(*k, &w, 1 + random_word() % (*k)->tile_rows, kind);
            free((void *)w.data);
        }
}

/* Runs one kernel over vectors of every length and kind, by both. */
typedef void vector_case(const struct fixed_kernels *k, size_t n, float *p[3],
                         float *ret_sum);

static void each_length(const char *what, vector_case *run)
{
    static float a[3][BIG + 1], b[3][BIG + 1];
    float *pa[3] = {a[0], a[1], a[2]}, *pb[3] = {b[0], b[1], b[2]};

    for (const struct fixed_kernels *const *k = fixed_kernels_all() + 1;
         *k != NULL; k++)
        for (size_t n = 1; n < BIG; n += n < 70 ? 1 : 103)
            for (int kind = 0; kind < KINDS; kind++) {
                float sum_a = 0, sum_b = 0;

                for (int i = 0; i < 3; i++)
                    fill(a[i], BIG + 1, (enum kind)kind);
                memcpy(b, a, sizeof(a));
                run(&fixed_kernels_ref, n, pa, &sum_a);
                run(*k, n, pb, &sum_b);
                for (int i = 0; i < 3; i++) /* and nothing past the end */
                    same(what, *k, a[i], b[i], BIG + 1);
                same(what, *k, &sum_a, &sum_b, 1);
            }
}

static void case_rmsnorm(const struct fixed_kernels *k, size_t n, float *p[3],
                         float *ret_sum)
{
    (void)ret_sum;
    k->rmsnorm(p[0], p[1], n, 1e-5f, p[2]);
}

static void case_rope(const struct fixed_kernels *k, size_t n, float *p[3],
                      float *ret_sum)
{
    (void)ret_sum;
    k->rope(p[0], n / 2, p[1], p[2]);
}

static void case_softmax(const struct fixed_kernels *k, size_t n, float *p[3],
                         float *ret_sum)
{
    *ret_sum = k->softmax(p[0], n, 0.125f);
}

static void case_divide(const struct fixed_kernels *k, size_t n, float *p[3],
                        float *ret_sum)
{
    (void)ret_sum;
    k->divide(p[0], n, p[1][0]);
}

static void case_silu(const struct fixed_kernels *k, size_t n, float *p[3],
                      float *ret_sum)
{
    (void)ret_sum;
    k->silu(p[0], p[1], n, p[2]);
}

static void case_add(const struct fixed_kernels *k, size_t n, float *p[3],
                     float *ret_sum)
{
    (void)ret_sum;
    k->add(p[0], p[1], n);
}

static void vectors_equal_the_definition(void **state)
{
    (void)state;
    each_length("rmsnorm", case_rmsnorm);
    each_length("rope", case_rope);
    each_length("softmax", case_softmax);
    each_length("divide", case_divide);
    each_length("silu", case_silu);
    each_length("add", case_add);
}

/* The vector exp over the whole line, through softmax of pairs (0, -x): the
 * largest is 0, so the second becomes exp(-x). */
static void exp_equals_the_definition_everywhere(void **state)
{
    float a[FIXED_LANES], b[FIXED_LANES];

    (void)state;
    for (const struct fixed_kernels *const *k = fixed_kernels_all() + 1;
         *k != NULL; k++)
        for (uint32_t u = 0; u < 0x7f800000u - FIXED_LANES * 509;
             u += FIXED_LANES * 509) {
            a[0] = 0.0f;
            for (uint32_t i = 1; i < FIXED_LANES; i++)
                a[i] = -float_of(u + i * 509);
            memcpy(b, a, sizeof(a));
            (void)fixed_kernels_ref.softmax(a, FIXED_LANES, 1.0f);
            (void)(*k)->softmax(b, FIXED_LANES, 1.0f);
            if (memcmp(a, b, sizeof(a)) != 0)
                same("exp", *k, a, b, FIXED_LANES);
        }
}

/* What differs between fused and unfused, and between two orders, must show:
 * otherwise the comparisons above prove nothing. */
static void order_and_fusing_show(void **state)
{
    struct fixed_panels w = random_panels(FIXED_F32, KIND_PLAIN, 16, 512);
    float x[512], out[16];
    struct fixed_tile t = {
        .x = x, .rows = 1, .w = &w, .end = 1, .out = out, .stride = 16};
    int unfused = 0, backwards = 0;

    (void)state;
    fill(x, 512, KIND_PLAIN);
    fixed_kernels_ref.tile(&t);
    for (size_t o = 0; o < 16; o++) {
        float a = 0.0f, b = 0.0f;

        for (size_t i = 0; i < 512; i++) {
            float product = x[i] * fixed_panel_weight(&w, o, i);

            a = a + product;
            b = fmaf(x[511 - i], fixed_panel_weight(&w, o, 511 - i), b);
        }
        unfused += bits_of(a) != bits_of(out[o]);
        backwards += bits_of(b) != bits_of(out[o]);
    }
    assert_true(unfused > 8);
    assert_true(backwards > 8);
    free((void *)w.data);
}

static void panels_hold_the_rows_they_were_made_from(void **state)
{
    float rows[20][5];
    const uint8_t *row[FIXED_PANEL];
    struct fixed_panels w = {.type = FIXED_F32, .n = 20, .k = 5};
    uint8_t *data;

    (void)state;
    w.pitch = fixed_panel_bytes(FIXED_F32, 5);
    assert_int_equal(w.pitch % 64, 0);
    data = aligned_alloc(64, 2 * w.pitch);
    assert_non_null(data);
    fill(&rows[0][0], 100, KIND_PLAIN);
    for (size_t p = 0; p < 2; p++) {
        size_t n = p == 0 ? 16 : 4;

        for (size_t r = 0; r < n; r++)
            row[r] = (const uint8_t *)rows[p * 16 + r];
        fixed_panel_pack(&w, row, n, data + p * w.pitch);
    }
    w.data = data;
    for (size_t o = 0; o < 20; o++)
        for (size_t i = 0; i < 5; i++)
            assert_true(fixed_panel_weight(&w, o, i) == rows[o][i]);
    free(data);
}

static void another_environment_is_noticed(void **state)
{
    unsigned before = _mm_getcsr();

    (void)state;
    assert_int_equal(cpu_float_environment(), 0);
    _mm_setcsr(before | 0x8000); /* flush to zero */
    assert_true(cpu_float_environment() < 0);
    _mm_setcsr(before | 0x0040); /* denormals are zero */
    assert_true(cpu_float_environment() < 0);
    _mm_setcsr(before | 0x2000); /* round down */
    assert_true(cpu_float_environment() < 0);
    _mm_setcsr(before);
    assert_int_equal(cpu_float_environment(), 0);
}

static void kernels_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(fixed_kernels_pick("ref"), &fixed_kernels_ref);
    assert_null(fixed_kernels_pick("fast"));
    assert_non_null(fixed_kernels_pick(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_equal_the_definition),
        cmocka_unit_test(vectors_equal_the_definition),
        cmocka_unit_test(exp_equals_the_definition_everywhere),
        cmocka_unit_test(order_and_fusing_show),
        cmocka_unit_test(panels_hold_the_rows_they_were_made_from),
        cmocka_unit_test(another_environment_is_noticed),
        cmocka_unit_test(kernels_are_found_by_name),
    };

    random_state = 0x9e3779b97f4a7c15ull;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
