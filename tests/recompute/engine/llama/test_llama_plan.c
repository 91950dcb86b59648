/*
 * test_llama_plan.c - plans, ubatches and the printed logprob.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/sampler/logprob.h"
#include "engine/llama/schedule/ubatch_split.h"
#include "numerics/ggml/libm.h"
#include "plan_text.h"

static enum parse read_plan(const char *text, struct plan *p, size_t *line)
{
    return plan_text_read(span_str(text), p, line);
}

static void every_line_is_an_operation(void **state)
{
    struct plan p;
    size_t line;

    (void)state;
    assert_int_equal(
        read_plan("R 3 0\nT 7 1 3 1\r\n\nU\nS 3 9\nL 2 9\nC 2 5", &p, &line),
        PARSE_OK);
    assert_int_equal(p.n, 6);
    assert_int_equal(p.slots, 6);
    assert_int_equal(p.ops[1].id, 7);
    assert_int_equal(p.ops[1].position, 1);
    assert_true(p.ops[1].output);
    assert_int_equal(p.ops[3].id, 9);
    assert_int_equal(p.ops[5].slot, 2);
    plan_fini(&p);
}

static void other_lines_are_refused_with_their_number(void **state)
{
    static const char *const bad[] = {
        "U\nX 1 2",          "U\nT 1 2 3",     "U\nT 1 2 3 2", "U\nT 1 2 256 0",
        "U\nR 1  2",         "U\nR 1 -2",      "U\nR 1 2 ",    "U\nC 0 256",
        "U\nR 1 4294967296", "U\nT 1 0 0 1\n", "U\nU x",       "U\nR",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct plan p;
        size_t line = 0;
        assert_int_equal(read_plan(bad[i], &p, &line), PARSE_BAD);
        assert_int_equal(line, 2);
        plan_fini(&p);
    }
}

/* "0*1 1*240" puts one token of slot 0 and 240 of slot 1 into a batch; out is
 * filled with "rows of slot first..." of each ubatch. */
static void cut(const char *batch, const struct llama_recipe *how, char *out)
{
    struct llama_token tokens[2048] = {{0}};
    size_t places[2048], n = 0, k;
    struct ubatch_split s;

    for (const char *p = batch; *p;) {
        char *end;
        uint32_t slot = (uint32_t)strtoul(p, &end, 10);
        unsigned long count = strtoul(end + 1, &end, 10);
        while (count-- > 0)
            tokens[n++].sequence = slot;
        p = *end ? end + 1 : end;
    }
    assert_int_equal(ubatch_split_init(&s, how, tokens, n), 0);
    while ((k = ubatch_split_next(&s, places)) > 0) {
        for (size_t i = 0, j; i < k; i = j) {
            uint32_t slot = tokens[places[i]].sequence;
            for (j = i; j < k && tokens[places[j]].sequence == slot; j++)
                if (j > i)
                    assert_true(places[j] > places[j - 1]);
            out += sprintf(out, "%s%u*%zu", i > 0 ? "+" : "", slot, j - i);
        }
        out += sprintf(out, " ");
    }
    out[-1] = '\0';
    ubatch_split_fini(&s);
}

static void streams_give_equally_many_tokens(void **state)
{
    static const struct llama_recipe how = {.n_ubatch = 512, .sequences = 4};
    static const struct {
        const char *batch, *ubatches;
    } cases[] = {
        {"0*1 1*1 2*1 3*241", "0*1+1*1+2*1+3*1 3*240"},
        {"0*1 2*1", "0*1 2*1"}, /* no neighbours */
        {"0*1 1*1", "0*1+1*1"},
        {"1*1 0*1", "1*1 0*1"}, /* not rising */
        {"2*1 3*1 0*14 1*23", "2*1+3*1 0*14+1*14 1*9"},
        {"0*600 1*602", "0*256+1*256 0*256+1*256 0*88+1*88 1*2"},
        {"0*1000", "0*512 0*488"},
    };
    char out[512];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cut(cases[i].batch, &how, out);
        assert_string_equal(out, cases[i].ubatches);
    }
}

static void a_unified_cache_keeps_batch_order(void **state)
{
    static const struct llama_recipe how = {
        .unified = true, .n_ubatch = 512, .sequences = 4};
    char out[512];

    (void)state;
    cut("2*1 0*1 3*600", &how, out);
    assert_string_equal(out, "2*1+0*1+3*510 3*90");
}

/* std::partial_sort as the C++ standard library's heap does it, in words:
 * places beyond the first N hold their own value or what it pushed out. */
static float sum_by_words(const float *l, size_t n, size_t top)
{
    float best[8], sum = 0, max = -INFINITY;
    float rest[64];
    size_t n_rest = 0;

    memcpy(best, l, top * sizeof *best);
    for (size_t i = top; i < n; i++) {
        size_t least = 0;
        for (size_t k = 1; k < top; k++)
            if (best[k] < best[least])
                least = k;
        rest[n_rest] = l[i];
        if (l[i] > best[least]) {
            rest[n_rest] = best[least];
            best[least] = l[i];
        }
        n_rest++;
    }
    for (size_t i = 0; i < top; i++) /* falling */
        for (size_t k = i + 1; k < top; k++)
            if (best[k] > best[i]) {
                float v = best[i];
                best[i] = best[k];
                best[k] = v;
            }
    max = best[0];
    for (size_t i = 0; i < top; i++)
        sum += ggml_expf(best[i] - max);
    for (size_t i = 0; i < n_rest; i++)
        sum += ggml_expf(rest[i] - max);
    return sum;
}

static void the_order_of_the_sum_depends_on_the_alternatives(void **state)
{
    float l[48], places[48];
    struct logprob_row few, all, same;
    uint32_t seed = 1;
    size_t differ = 0;

    (void)state;
    for (size_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < 48; i++) {
            seed = seed * 1664525 + 1013904223;
            l[i] = (float)(seed >> 8) * 0x1p-22F - 2;
        }
        size_t top = 1 + round % 8;
        logprob_row(l, 48, logprob_sorted(LOGPROB_SORT_TOP, 48, top), places,
                    &few);
        assert_true(few.sum == sum_by_words(l, 48, top));
        logprob_row(l, 48, logprob_sorted(LOGPROB_SORT_ALL, 48, top), places,
                    &all);
        for (size_t i = 1; i < 48; i++)
            assert_true(places[i - 1] >= places[i]);
        logprob_row(l, 48, logprob_sorted(LOGPROB_SORT_TOP, 48, 1000), places,
                    &same);
        assert_true(same.sum == all.sum && same.max == few.max);
        differ += few.sum != all.sum;
    }
    assert_true(differ > 50);
}

static void a_probability_of_zero_is_the_lowest_float(void **state)
{
    float l[2] = {0, -200}, places[2];
    struct logprob_row row;

    (void)state;
    logprob_row(l, 2, logprob_sorted(LOGPROB_SORT_TOP, 2, 0), places, &row);
    assert_true(logprob_of(&row, l[0]) == 0);
    assert_true(logprob_of(&row, l[1]) == -3.4028234663852886e38F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_an_operation),
        cmocka_unit_test(other_lines_are_refused_with_their_number),
        cmocka_unit_test(streams_give_equally_many_tokens),
        cmocka_unit_test(a_unified_cache_keeps_batch_order),
        cmocka_unit_test(the_order_of_the_sum_depends_on_the_alternatives),
        cmocka_unit_test(a_probability_of_zero_is_the_lowest_float),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
