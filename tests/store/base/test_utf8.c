/*
 * test_utf8.c - every sequence of up to four interesting bytes, stepped
 * against the tables of Unicode written a second time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t bytes[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                                0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1,
                                0xf3, 0xf4, 0xf5, 0xff};

enum { N_BYTES = sizeof bytes };

/* Table 3-7: which byte may stand at place i after the bytes before it. */
static bool may_follow(const uint8_t *s, size_t i)
{
    if (s[i] < 0x80 || s[i] > 0xbf)
        return false;
    if (i != 1)
        return true;
    switch (s[0]) {
    case 0xe0:
        return s[1] >= 0xa0;
    case 0xed:
        return s[1] <= 0x9f;
    case 0xf0:
        return s[1] >= 0x90;
    case 0xf4:
        return s[1] <= 0x8f;
    default:
        return true;
    }
}

static size_t wanted(uint8_t c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf)
        return 2;
    if (c >= 0xe0 && c <= 0xef)
        return 3;
    return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

static void check(const uint8_t *s, size_t n)
{
    size_t want = wanted(s[0]), good = 1, step = 99;
    enum parse got = utf8_step(span_of(s, n), &step);

    while (good < n && good < want && may_follow(s, good))
        good++;
    assert_int_equal(step, good);
    if (want != 0 && good == want)
        assert_int_equal(got, PARSE_OK);
    else
        assert_int_equal(got, want != 0 && good == n ? PARSE_MORE : PARSE_BAD);
}

static void steps_as_table_3_7_says(void **state)
{
    uint8_t s[4];

    (void)state;
    for (size_t i = 0; i < N_BYTES * N_BYTES * N_BYTES * N_BYTES; i++) {
        for (size_t k = 0, rest = i; k < 4; k++, rest /= N_BYTES)
            s[k] = bytes[rest % N_BYTES];
        for (size_t n = 1; n <= 4; n++)
            check(s, n);
    }
}

static void whole_text_has_no_bad_part(void **state)
{
    (void)state;
    assert_true(utf8_whole(span_of("", 0)));
    assert_true(utf8_whole(span_str("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82")));
    assert_false(utf8_whole(span_str("a\xc3")));
    assert_false(utf8_whole(span_str("\xed\xa0\x80")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_as_table_3_7_says),
        cmocka_unit_test(whole_text_has_no_bad_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
