/*
 * test_fixed_golden.c - all kernels give the bits of golden_fixed.txt, which
 * make_fixed_golden.py made from docs/numerics-fixed.md in exact fractions:
 * two wrong things can agree with each other, not with that.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "numerics/fixed/fixed.h"
#include "numerics/fixed/fixed_math.h"
#include "recompute/sample.h"

enum { NUMBERS_MAX = 256, LINE_BYTES = 4096 };

struct numbers {
    float v[NUMBERS_MAX];
    size_t n;
};

/* The file's state while it is walked. */
struct golden {
    const struct fixed_kernels *k;
    struct numbers in, in2, want;
    unsigned checked;
};

static void must_equal(const struct golden *g, const char *name,
                       const float *have, size_t n)
{
    if (n != g->want.n)
        fail_msg("%s %s: %zu numbers, not %zu", name, g->k->name, n, g->want.n);
    for (size_t i = 0; i < n; i++)
        if (bits_of(have[i]) != bits_of(g->want.v[i]))
            fail_msg("%s %s: number %zu: %08x, not %08x", name, g->k->name, i,
                     bits_of(have[i]), bits_of(g->want.v[i]));
}

static void check_dot(struct golden *g, float *out)
{
    static uint8_t data[NUMBERS_MAX * FIXED_PANEL * 4];
    const uint8_t *row[1] = {(const uint8_t *)g->in2.v};
    struct fixed_panels w = {
        .type = FIXED_F32, .n = 1, .k = g->in.n, .data = data};
    struct fixed_tile t = {
        .x = g->in.v, .rows = 1, .w = &w, .end = 1, .out = out, .stride = 1};

    w.pitch = fixed_panel_bytes(FIXED_F32, w.k);
    fixed_panel_pack(&w, row, 1, data);
    g->k->tile(&t);
}

static void check_line(struct golden *g, const char *name)
{
    float out[NUMBERS_MAX];
    size_t n = g->in.n;

    memcpy(out, g->in.v, sizeof(out));
    if (strcmp(name, "dot") == 0) {
        check_dot(g, out);
        n = 1;
    } else if (strcmp(name, "rmsnorm") == 0) {
        g->k->rmsnorm(g->in.v, g->in2.v, n, 1e-5f, out);
    } else if (strcmp(name, "softmax") == 0) {
        (void)g->k->softmax(out, n, 0.125f);
    } else if (strcmp(name, "sum") == 0) {
        out[0] = g->k->softmax(out, n, 0.125f);
        n = 1;
    } else if (strcmp(name, "silu") == 0) {
        g->k->silu(g->in.v, g->in2.v, n, out);
    } else if (strcmp(name, "rope") == 0) {
        g->k->rope(out, n / 2, g->in2.v, g->in2.v + n / 2);
        n = n / 2 * 2;
    } else if (strcmp(name, "log") == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = fixed_log(g->in.v[i]);
    } else if (strcmp(name, "exp") == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = fixed_exp(-g->in.v[i]);
    } else {
        fail_msg("golden_fixed.txt: unknown line %s", name);
    }
    must_equal(g, name, out, n);
    g->checked++;
}

/* Token ids for seed 7, T 1.25, positions from 0, over these logits. */
static void check_tokens(const struct golden *g)
{
    static const float logits[10] = {0.5f,  1.5f, -1.0f, 3.0f,  1.0f,
                                     -1.0f, 3.0f, -2.0f, -9.0f, 0.25f};
    struct sampling s;
    struct candidate c;

    sampling_init(&s);
    s.temperature = 1.25f;
    s.seed = 7;
    assert_int_equal(g->want.n, 16);
    for (uint32_t p = 0; p < 16; p++) {
        assert_int_equal(sample_token(&s, (struct sample_place){0, p},
                                      (struct logits){logits, 10}, NULL, &c),
                         0);
        assert_int_equal(c.id, bits_of(g->want.v[p]));
    }
}

static void read_numbers(char *text, struct numbers *ret_n)
{
    ret_n->n = 0;
    for (char *word; (word = strtok(text, " \n")) != NULL; text = NULL) {
        assert_true(ret_n->n < NUMBERS_MAX);
        ret_n->v[ret_n->n++] = float_of((uint32_t)strtoul(word, NULL, 16));
    }
}

static void walk(struct golden *g)
{
    static char line[LINE_BYTES];
    FILE *f = fopen(GOLDEN, "re");

    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL) {
        char *rest = strchr(line, ' ');

        assert_non_null(rest);
        *rest++ = '\0';
        read_numbers(rest, &g->want);
        if (strcmp(line, "in") == 0)
            g->in = g->want;
        else if (strcmp(line, "in2") == 0)
            g->in2 = g->want;
        else if (strcmp(line, "tokens") == 0)
            check_tokens(g);
        else
            check_line(g, line);
    }
    (void)fclose(f); /* only read */
}

static void kernels_give_the_golden_bits(void **state)
{
    (void)state;
    for (const struct fixed_kernels *const *k = fixed_kernels_all(); *k != NULL;
         k++) {
        static struct golden g;

        g = (struct golden){.k = *k};
        walk(&g);
        assert_int_equal(g.checked, 4 * 6 + 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_give_the_golden_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
