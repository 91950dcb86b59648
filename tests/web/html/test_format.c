/*
 * test_format.c - numbers, times and float bits as they stand on a page:
 * web/html/format.h and web/html/bits.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "html/bits.h"
#include "html/format.h"

#define NB "\xc2\xa0"

static void parts_thousands(void **state)
{
    (void)state;
    assert_string_equal(format_count(0).s, "0");
    assert_string_equal(format_count(999).s, "999");
    assert_string_equal(format_count(1204118).s, "1" NB "204" NB "118");
    assert_string_equal(format_count(UINT64_MAX).s,
                        "18" NB "446" NB "744" NB "073" NB "709" NB "551" NB
                        "615");
    assert_string_equal(format_plural(1, "request").s, "1 request");
    assert_string_equal(format_plural(0, "request").s, "0 requests");
}

static void writes_utc_with_its_z(void **state)
{
    int64_t t = INT64_C(1795953605123456789);

    (void)state;
    assert_string_equal(format_time(t).s, "2026-11-29 12:00:05.123Z");
    assert_string_equal(format_time_exact(t).s,
                        "2026-11-29T12:00:05.123456789Z");
    assert_string_equal(format_time(0).s, "not seen");
    assert_string_equal(format_range(t, t + INT64_C(3600000000000)).s,
                        "2026-11-29 12:00:05 to 13:00:05Z");
    assert_string_equal(format_range(t, t + INT64_C(86400000000000)).s,
                        "2026-11-29 12:00:05 to 2026-11-30 12:00:05Z");
}

static void reads_times_people_write(void **state)
{
    int64_t t;

    (void)state;
    assert_int_equal(format_parse_time("2026-11-29T12:00:05Z", &t), PARSE_OK);
    assert_int_equal(t, INT64_C(1795953605000000000));
    assert_int_equal(format_parse_time("2026-11-29 12:00", &t), PARSE_OK);
    assert_int_equal(t, INT64_C(1795953600000000000));
    assert_int_equal(format_parse_time("2026-11-29", &t), PARSE_OK);
    assert_int_equal(t, INT64_C(1795910400000000000));
    assert_int_equal(format_parse_time("yesterday", &t), PARSE_BAD);
    assert_int_equal(format_parse_time("2026-11-29T12:00:05+01", &t),
                     PARSE_BAD);
    assert_int_equal(format_parse_time("1812-01-01", &t), PARSE_BAD);
    assert_int_equal(format_parse_time("9999-01-01", &t), PARSE_BAD);
}

static void never_writes_a_bound_smaller_than_it_is(void **state)
{
    (void)state;
    assert_string_equal(format_bound(14001).s, "1.5" NB "%");
    assert_string_equal(format_bound(14000).s, "1.4" NB "%");
    assert_string_equal(format_bound(987500).s, "99" NB "%");
    assert_string_equal(format_bound(990001).s, "100" NB "%");
    assert_string_equal(format_bound(1000000).s, "100" NB "%");
    assert_string_equal(format_bound(1).s, "0.0001" NB "%");
    assert_string_equal(format_bound(0).s, "0" NB "%");
}

static void rounds_no_share_to_nothing_or_all(void **state)
{
    (void)state;
    assert_string_equal(format_share(0, 10).s, "0" NB "%");
    assert_string_equal(format_share(10, 10).s, "100" NB "%");
    assert_string_equal(format_share(39, 40).s, "97.5" NB "%");
    assert_string_equal(format_share(1204097, 1204118).s, "99.998" NB "%");
    assert_string_equal(format_share(999999999, 1000000000).s, "99.999" NB "%");
    assert_string_equal(format_share(1, 100000).s, "under 0.1" NB "%");
    assert_string_equal(format_share(990000, 1000000).s, "99" NB "%");
}

static void gives_no_share_of_nothing(void **state)
{
    (void)state;
    assert_string_equal(format_share(0, 0).s, "\xe2\x80\x93");
}

static void writes_ages_in_whole_units(void **state)
{
    (void)state;
    assert_string_equal(format_age(INT64_C(75000000000)).s, "75" NB "s");
    assert_string_equal(format_age(INT64_C(4000000000000)).s, "66" NB "min");
    assert_string_equal(format_age(INT64_C(36000000000000)).s, "10" NB "h");
    assert_string_equal(format_age(INT64_C(864000000000000)).s, "10" NB "d");
    assert_string_equal(format_age(-1000000000).s, "in the future");
}

static void shortens_a_hash_and_says_so(void **state)
{
    static const uint8_t bytes[8] = {0x5c, 0x1e, 0x0f, 0x9a, 1, 2, 3, 4};

    (void)state;
    assert_string_equal(format_hex(span_of(bytes, 8), 4).s,
                        "5c1e0f9a\xe2\x80\xa6");
    assert_string_equal(format_hex(span_of(bytes, 4), 4).s, "5c1e0f9a");
}

static uint32_t parsed(const char *text)
{
    uint32_t bits = 0;

    assert_int_equal(bits_parse(span_str(text), &bits), PARSE_OK);
    return bits;
}

static void reads_exactly_eight_lower_case_digits(void **state)
{
    uint32_t bits;

    (void)state;
    assert_int_equal(parsed("bf9e0651"), 0xbf9e0651);
    assert_int_equal(bits_parse(span_str("BF9E0651"), &bits), PARSE_BAD);
    assert_int_equal(bits_parse(span_str("bf9e065"), &bits), PARSE_BAD);
    assert_int_equal(bits_parse(span_str("-"), &bits), PARSE_BAD);
    assert_int_equal(bits_parse(span_str(""), &bits), PARSE_BAD);
}

static void writes_hex_floats(void **state)
{
    (void)state;
    assert_string_equal(bits_hexfloat(0xbf9e0651).s, "-0x1.3c0ca2p+0");
    assert_string_equal(bits_hexfloat(0x80000000).s, "-0x0p+0");
    assert_string_equal(bits_hexfloat(0x00000001).s, "0x1p-149");
    assert_string_equal(bits_hexfloat(0xff800000).s, "-inf");
    assert_string_equal(bits_hexfloat(0x7fc00001).s, "nan:400001");
    assert_string_equal(bits_hexfloat(0xffc00000).s, "-nan:400000");
}

static uint64_t ulp(uint32_t a, uint32_t b)
{
    uint64_t distance = UINT64_MAX;

    assert_true(bits_ulp(a, b, &distance));
    return distance;
}

static void counts_floats_between(void **state)
{
    uint64_t distance;

    (void)state;
    assert_int_equal(ulp(0x3f800000, 0x3f800001), 1);
    assert_int_equal(ulp(0xbe8458f2, 0xbe8458f8), 6);
    assert_int_equal(ulp(0x80000001, 0x00000001), 2);
    assert_int_equal(ulp(0x80000000, 0x00000000), 0);
    assert_int_equal(ulp(0xff7fffff, 0x7f7fffff), 0xfefffffeULL);
    assert_false(bits_ulp(0x7fc00000, 0x3f800000, &distance));
    assert_false(bits_ulp(0x3f800000, 0xffc00001, &distance));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_thousands),
        cmocka_unit_test(writes_utc_with_its_z),
        cmocka_unit_test(reads_times_people_write),
        cmocka_unit_test(never_writes_a_bound_smaller_than_it_is),
        cmocka_unit_test(rounds_no_share_to_nothing_or_all),
        cmocka_unit_test(gives_no_share_of_nothing),
        cmocka_unit_test(writes_ages_in_whole_units),
        cmocka_unit_test(shortens_a_hash_and_says_so),
        cmocka_unit_test(reads_exactly_eight_lower_case_digits),
        cmocka_unit_test(writes_hex_floats),
        cmocka_unit_test(counts_floats_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
