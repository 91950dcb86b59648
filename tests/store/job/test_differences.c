/*
 * test_differences.c - the payload of a verdict, out and strictly back in:
 * store/differences.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/differences.h"

static struct difference_row rows[] = {
    {.choice = 0,
     .position = 41,
     .claimed = {.present = true, .id = 264, .has_bits = true, .bits = 1},
     .recomputed = {.present = true, .id = -1}},
    {.choice = 1, .position = 4294967295U, .claimed = {.present = false}},
};

static struct differences sample(void)
{
    static struct difference_side top[2] = {
        {.present = true, .id = 0, .has_bits = true, .bits = 0xff800000},
        {.present = true, .id = 7}};
    static struct difference_field field;

    rows[0].claimed.bytes = span_of(" \0\xff", 3);
    rows[0].recomputed.bytes = span_of("", 0);
    field =
        (struct difference_field){span_str("finish_reason"),
                                  span_of("st\xc3\xb6p\"\0<", 8), span_str("")};
    return (struct differences){.rows = rows,
                                .n_rows = 2,
                                .top_claimed = top,
                                .n_top_claimed = 2,
                                .fields = &field,
                                .n_fields = 1};
}

static void comes_back_as_it_was_written(void **state)
{
    struct differences d = sample(), back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    assert_int_equal(differences_write(&d, &bytes, &n), 0);
    assert_int_equal(differences_read(span_of(bytes, n), &back, &why), 0);
    free(bytes);
    assert_int_equal(back.n_rows, 2);
    assert_int_equal(back.rows[0].position, 41);
    assert_int_equal(back.rows[0].claimed.id, 264);
    assert_int_equal(back.rows[0].claimed.bits, 1);
    assert_true(span_eq(back.rows[0].claimed.bytes, span_of(" \0\xff", 3)));
    assert_int_equal(back.rows[0].recomputed.id, -1);
    assert_false(back.rows[0].recomputed.has_bits);
    assert_non_null(back.rows[0].recomputed.bytes.p); /* given, and empty */
    assert_int_equal(back.rows[0].recomputed.bytes.n, 0);
    assert_false(back.rows[1].claimed.present);
    assert_int_equal(back.rows[1].position, 4294967295U);
    assert_int_equal(back.n_top_claimed, 2);
    assert_int_equal(back.n_top_recomputed, 0);
    assert_int_equal(back.top_claimed[0].bits, 0xff800000);
    assert_null(back.top_claimed[1].bytes.p);
    assert_true(
        span_eq(back.fields[0].claimed, span_of("st\xc3\xb6p\"\0<", 8)));
    assert_int_equal(back.fields[0].recomputed.n, 0);
    differences_free(&back);
}

static void refuses_text_that_is_no_utf8(void **state)
{
    struct differences d = sample();
    char *bytes;
    size_t n;

    (void)state;
    d.fields[0].claimed = span_of("\xff", 1);
    assert_int_equal(differences_write(&d, &bytes, &n), -EINVAL);
}

#define SIDE "{\"id\":1,\"bytes\":\"00\",\"bits\":\"3f800000\"}"
#define WITH(rows)                                        \
    "{\"schema\":\"assay.differences/1\",\"rows\":[" rows \
    "],\"top\":{\"claimed\":[],\"recomputed\":[]},\"envelope\":[]}"
#define ROW(claimed)                                                       \
    "{\"choice\":0,\"position\":0,\"claimed\":" claimed ",\"recomputed\":" \
    "null}"

static void refuses_everything_else(void **state)
{
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"schema\":\"assay.differences/2\",\"rows\":[],\"top\":{\"claimed\":"
        "[],\"recomputed\":[]},\"envelope\":[]}",
        WITH("1"),
        WITH("{}"),
        WITH(ROW("1")),
        WITH(ROW("{\"id\":-1,\"bytes\":null,\"bits\":null}")),
        WITH(ROW("{\"id\":1.5,\"bytes\":null,\"bits\":null}")),
        WITH(ROW("{\"id\":1,\"bytes\":\"0\",\"bits\":null}")),
        WITH(ROW("{\"id\":1,\"bytes\":\"0G\",\"bits\":null}")),
        WITH(ROW("{\"id\":1,\"bytes\":null,\"bits\":\"3F800000\"}")),
        WITH(ROW("{\"id\":1,\"bytes\":null,\"bits\":\"3f80000\"}")),
        WITH(ROW("{\"id\":1,\"bytes\":null}")),
        WITH(ROW("{\"id\":1,\"bytes\":null,\"bits\":null,\"more\":1}")),
        WITH("{\"choice\":-1,\"position\":0,\"claimed\":null,\"recomputed\":"
             "null}"),
        WITH("{\"choice\":0,\"position\":4294967296,\"claimed\":null,"
             "\"recomputed\":null}"),
        WITH(ROW(SIDE)) "x",
        WITH("\"") "\"",
    };
    struct differences d;
    const char *why;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        why = NULL;
        if (differences_read(span_str(bad[i]), &d, &why) != -EBADMSG)
            fail_msg("read: %s", bad[i]);
        assert_non_null(why);
    }
    assert_int_equal(differences_read(span_str(WITH(ROW(SIDE))), &d, &why), 0);
    differences_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was_written),
        cmocka_unit_test(refuses_text_that_is_no_utf8),
        cmocka_unit_test(refuses_everything_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
