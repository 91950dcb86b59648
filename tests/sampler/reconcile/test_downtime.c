/*
 * test_downtime.c - what reconcile.h says of times without the tap, each on a
 * few rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconcile/rows.h"

/* A tap's account of the seconds from `from` to `to`. */
static void account(struct rows *r, int seq, const char *source, int from,
                    int to)
{
    rows_run(
        r, sqlite3_mprintf(
               "INSERT INTO traffic(seq,unit,tap,source,from_ns,to_ns) VALUES("
               "%d,zeroblob(31)||char(%d),'t',%Q,%lld,%lld)",
               seq, seq, source, (long long)from * SECOND,
               (long long)to * SECOND));
}

/* Plan b of the seconds 7 and 8, as the feed tells it at last. */
static void sequence_of_b(struct rows *r, int seq)
{
    rows_step(r, seq, 7);
    rows_member(r, seq, "b", 0, 4);
    rows_step(r, seq + 1, 8);
    rows_member(r, seq + 1, "b", 4, 1);
}

static void sequence_while_the_tap_was_down_is_no_orphan(void **state)
{
    struct rows *r = *state;

    account(r, 1, "live:lo", 0, 1);
    account(r, 2, "live:lo", 1, 6);
    account(r, 3, "live:lo", 30, 30);
    sequence_of_b(r, 4);
    rows_reconcile(r, 0, 100);
    rows_expect(r, "tap_down  0 1");
    assert_int_equal(r->object[31], 3);
    /* In the epoch after the one that saw the tap come back: told again, as
     * there is something to tell. */
    rows_reconcile(r, 0, 4);
    rows_expect(r, "tap_down  0 0");
    rows_reconcile(r, 4, 100);
    rows_expect(r, "tap_down  0 1");
}

static void time_without_the_tap_is_told_though_nobody_ran(void **state)
{
    struct rows *r = *state;

    account(r, 1, "live:lo", 0, 6);
    account(r, 2, "file:a.pcap", 2, 3);
    account(r, 3, "live:lo", 6, 7);
    account(r, 4, "live:lo", 8, 9);
    rows_reconcile(r, 0, 100);
    rows_expect(r, "tap_down  0 0");
    assert_int_equal(r->object[31], 4);
    rows_reconcile(r, 5, 100);
    assert_int_equal(r->n, 0);
}

static void sequence_while_the_tap_ran_is_an_orphan(void **state)
{
    struct rows *r = *state;

    account(r, 1, "live:lo", 0, 1);
    account(r, 2, "live:lo", 3, 10);
    account(r, 3, "live:lo", 11, 12);
    sequence_of_b(r, 4);
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 3);
    assert_string_equal(r->found[0], "orphan_metadata b 0 2");
}

/* The tap had seen its answer, perhaps, and not recorded it. */
static void sequence_just_before_the_tap_was_down_is_no_orphan(void **state)
{
    struct rows *r = *state;

    account(r, 1, "live:lo", 0, 9);
    account(r, 3, "live:lo", 20, 20);
    sequence_of_b(r, 4);
    rows_reconcile(r, 0, 100);
    rows_expect(r, "tap_down  0 1");
}

static void sequence_waits_until_its_time_is_accounted_for(void **state)
{
    struct rows *r = *state;

    account(r, 1, "live:lo", 0, 6);
    sequence_of_b(r, 2);
    rows_reconcile(r, 0, 10);
    assert_int_equal(r->n, 0);
    account(r, 11, "live:lo", 6, 9);
    rows_reconcile(r, 0, 10);
    assert_int_equal(r->n, 0);
    rows_reconcile(r, 10, 20);
    rows_expect(r, "orphan_metadata b 0 2");
    account(r, 21, "live:lo", 9, 12);
    rows_reconcile(r, 20, 30);
    assert_int_equal(r->n, 0);
}

static void sequence_before_the_tap_began_is_told(void **state)
{
    struct rows *r = *state;

    account(r, 3, "live:lo", 30, 30);
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    sequence_of_b(r, 4);
    rows_reconcile(r, 0, 100);
    rows_expect(r, "tap_down  0 1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_set_up, rows_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sequence_while_the_tap_was_down_is_no_orphan),
        TEST(time_without_the_tap_is_told_though_nobody_ran),
        TEST(sequence_while_the_tap_ran_is_an_orphan),
        TEST(sequence_just_before_the_tap_was_down_is_no_orphan),
        TEST(sequence_before_the_tap_began_is_told),
        TEST(sequence_waits_until_its_time_is_accounted_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
