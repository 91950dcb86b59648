/*
 * test_reconcile.c - the rules of reconcile.h, each on a world of a few rows;
 * test_reconcile_captures.py has the same on real traffic.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconcile/rows.h"

static void whole_sequence_is_no_finding(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 2, "a", 4, 1);
    rows_pass(r, 3, "a", 5, 1);
    rows_exchange(r, 4, "a", 3, (struct seconds){1, 4});
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.exchanges, 1);
    assert_int_equal(r->counts.matched, 1);
    assert_int_equal(r->counts.by_shape, 0);
}

static void finding_points_at_the_exchange_and_the_step(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 3, "a", 5, 1);
    rows_exchange(r, 4, "a", 3, (struct seconds){1, 4});
    rows_reconcile(r, 0, 100);
    rows_expect(r, "size_diff a 4 5");
    assert_int_equal(r->object[31], 4);
}

static void orphan_points_at_its_first_batch_step(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 7, "b", 0, 4);
    rows_pass(r, 8, "b", 4, 1);
    rows_reconcile(r, 0, 100);
    rows_expect(r, "orphan_metadata b 0 2");
    assert_int_equal(r->object[31], 7);
}

static void row_recorded_after_the_end_is_looked_at(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_exchange(r, 9, "a", 2, (struct seconds){1, 9});
    rows_pass(r, 10, "a", 4, 1);
    rows_reconcile(r, 0, 10);
    assert_int_equal(r->n, 0);
    /* and is no finding of its own epoch either */
    rows_reconcile(r, 10, 20);
    assert_int_equal(r->n, 0);
}

static void sequence_belongs_to_the_epoch_of_its_last_row(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 8, "b", 0, 4);
    rows_pass(r, 11, "b", 4, 1);
    rows_reconcile(r, 0, 10);
    assert_int_equal(r->n, 0);
    rows_reconcile(r, 10, 20);
    rows_expect(r, "orphan_metadata b 0 2");
}

static void exchange_of_the_next_epoch_takes_its_sequence(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 8, "a", 0, 4);
    rows_pass(r, 9, "a", 4, 1);
    rows_exchange(r, 12, "a", 2, (struct seconds){8, 12});
    rows_reconcile(r, 0, 10);
    assert_int_equal(r->n, 0);
    rows_reconcile(r, 10, 20);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.matched, 1);
}

static void answer_without_id_takes_the_sequence_of_its_shape(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "t1", 0, 4);
    rows_pass(r, 2, "t2", 0, 4);
    rows_member(r, 2, "t1", 4, 1);
    rows_pass(r, 3, "t1", 5, 1);
    rows_exchange(r, 5, "", 1, (struct seconds){2, 3});
    rows_exchange(r, 6, "", 3, (struct seconds){1, 4});
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.by_shape, 2);
}

static void shape_is_taken_across_the_edge_of_an_epoch(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 8, "t1", 0, 4);
    rows_pass(r, 9, "t1", 4, 1);
    rows_exchange(r, 12, "", 2, (struct seconds){8, 12});
    rows_reconcile(r, 0, 10);
    assert_int_equal(r->n, 0);
    rows_reconcile(r, 10, 20);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.by_shape, 1);
}

/* The step's message names its members by ids of the engine's own. */
static void name_by_engine(struct rows *r, int seq)
{
    rows_run(r, sqlite3_mprintf(
                    "UPDATE batch_step SET names='engine' WHERE seq=%d", seq));
}

/* p1 is of two answers of two tokens each, p2 of one of four. */
static void answers_of_one_request_are_taken_together(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "p1", 0, 4);
    rows_member(r, 1, "p1", 0, 4);
    rows_member(r, 1, "p2", 0, 4);
    rows_pass(r, 2, "p1", 4, 1);
    rows_member(r, 2, "p1", 4, 1);
    rows_member(r, 2, "p2", 4, 3);
    rows_run(r, sqlite3_mprintf(
                    "UPDATE batch_step_member SET choice=1 WHERE pos=1"));
    name_by_engine(r, 1);
    name_by_engine(r, 2);
    rows_exchange(r, 5, "x", 4, (struct seconds){1, 3});
    rows_exchange(r, 6, "y", 4, (struct seconds){1, 3});
    rows_run(r, sqlite3_mprintf(
                    "UPDATE exchange SET choices=2,tokens_in=0 WHERE seq=5"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.by_shape, 2);
}

static void named_answer_takes_no_sequence_by_shape(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "b", 0, 4);
    rows_exchange(r, 2, "a", 1, (struct seconds){1, 2});
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 2);
    assert_string_equal(r->found[0], "no_metadata a 1 0");
    assert_string_equal(r->found[1], "orphan_metadata b 0 1");
}

static void engines_own_id_may_be_any_answers(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "b", 0, 4);
    name_by_engine(r, 1);
    rows_exchange(r, 2, "a", 1, (struct seconds){1, 2});
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.by_shape, 1);
}

/* What the ids look like says nothing. */
static void id_is_the_engines_own_only_if_its_feed_says_so(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "task:0", 0, 4);
    rows_exchange(r, 2, "a", 1, (struct seconds){1, 2});
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 2);
    assert_string_equal(r->found[0], "no_metadata a 1 0");
    assert_string_equal(r->found[1], "orphan_metadata task:0 0 1");
}

static void id_is_no_engines_own_once_a_message_denies_it(void **state)
{
    struct rows *r = *state;

    for (int denied = 1; denied <= 2; denied++) {
        rows_run(r, sqlite3_mprintf("DELETE FROM batch_step"));
        rows_run(r, sqlite3_mprintf("DELETE FROM batch_step_member"));
        rows_run(r, sqlite3_mprintf("DELETE FROM exchange"));
        rows_pass(r, 1, "b", 0, 4);
        rows_pass(r, 2, "b", 4, 1);
        rows_exchange(r, 3, "a", 2, (struct seconds){1, 3});
        name_by_engine(r, 3 - denied);
        rows_reconcile(r, 0, 100);
        assert_int_equal(r->n, 2);
        assert_string_equal(r->found[0], "no_metadata a 2 0");
        assert_string_equal(r->found[1], "orphan_metadata b 0 2");
        name_by_engine(r, denied);
        rows_reconcile(r, 0, 100);
        assert_int_equal(r->n, 0);
    }
}

static void sequence_out_of_time_is_no_ones_by_shape(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "t1", 0, 4);
    rows_exchange(r, 2, "", 1, (struct seconds){7, 8});
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 2);
}

static void rewind_allows_positions_again(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 2, "a", 4, 1);
    rows_pass(r, 3, "a", 0, 5);
    rows_pass(r, 4, "a", 5, 1);
    rows_exchange(r, 5, "a", 3, (struct seconds){1, 5});
    rows_reconcile(r, 0, 100);
    rows_expect(r, "dup_metadata a 5 0");
    rows_run(r, sqlite3_mprintf(
                    "INSERT INTO batch_step_op VALUES(3,0,'rewind a 1 0')"));
    rows_reconcile(r, 0, 100);
    rows_expect(r, "dup_metadata a 5 0"); /* another choice's */
    rows_run(r, sqlite3_mprintf(
                    "INSERT INTO batch_step_op VALUES(3,1,'rewind a 0 0')"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
}

static void rejected_drafts_are_rewound_to_their_position(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 2, "a", 4, 4); /* three drafts, two of them rejected */
    rows_pass(r, 3, "a", 6, 1);
    rows_exchange(r, 5, "a", 4, (struct seconds){1, 5});
    rows_reconcile(r, 0, 100);
    rows_expect(r, "size_diff a 8 6");
    rows_run(r, sqlite3_mprintf(
                    "INSERT INTO batch_step_op VALUES(3,0,'rewind a 0 6')"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
}

static void drafts_rejected_at_the_end_are_not_sampled(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 2, "a", 4, 4);
    rows_exchange(r, 5, "a", 3, (struct seconds){1, 5});
    rows_reconcile(r, 0, 100);
    rows_expect(r, "size_diff a 3 5");
    rows_step(r, 3, 3);
    rows_run(r, sqlite3_mprintf(
                    "INSERT INTO batch_step_op VALUES(3,0,'rewind a 0 6')"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
}

static void rewound_sequence_that_waits_is_no_orphan(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "b", 0, 4);
    rows_pass(r, 2, "c", 0, 4);
    rows_run(r, sqlite3_mprintf(
                    "INSERT INTO batch_step_op VALUES(2,0,'rewind b 0 0')"));
    rows_reconcile(r, 0, 100);
    rows_expect(r, "orphan_metadata c 0 1");
}

static void client_that_left_may_miss_tokens_of_the_sequence(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 2, "a", 4, 1);
    rows_exchange(r, 3, "a", 1, (struct seconds){1, 3});
    rows_run(
        r, sqlite3_mprintf("UPDATE exchange SET complete=0,cause='client_cut',"
                           "tokens_from='tokens'"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    rows_run(r, sqlite3_mprintf("UPDATE exchange SET tokens_out=3"));
    rows_reconcile(r, 0, 100);
    rows_expect(r, "size_diff a 3 2");
}

static void counted_events_are_a_lower_bound(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_pass(r, 2, "a", 4, 1);
    rows_exchange(r, 3, "a", 1, (struct seconds){1, 3});
    rows_run(r, sqlite3_mprintf("UPDATE exchange SET tokens_from='events'"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    rows_run(r, sqlite3_mprintf("UPDATE exchange SET tokens_from='tokens'"));
    rows_reconcile(r, 0, 100);
    rows_expect(r, "size_diff a 1 2");
}

static void
request_cut_before_its_answer_accounts_for_one_sequence(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "b", 0, 4);
    rows_exchange(r, 2, "", 0, (struct seconds){1, 2});
    rows_run(r, sqlite3_mprintf("UPDATE exchange SET complete=0,status=0,"
                                "cause='client_cut',tokens_in=0"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    rows_pass(r, 3, "c", 0, 4);
    rows_reconcile(r, 0, 100);
    rows_expect(r, "orphan_metadata c 0 1");
}

static void refused_request_needs_no_sequence_and_hides_none(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "b", 0, 4);
    rows_exchange(r, 2, "", 0, (struct seconds){1, 2});
    rows_run(r, sqlite3_mprintf("UPDATE exchange SET status=400,tokens_in=0"));
    rows_reconcile(r, 0, 100);
    rows_expect(r, "orphan_metadata b 0 1");
}

static void answer_given_again_under_its_id_has_no_sequence(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "a", 0, 4);
    rows_exchange(r, 2, "a", 1, (struct seconds){1, 2});
    rows_exchange(r, 6, "a", 1, (struct seconds){5, 6});
    rows_reconcile(r, 0, 100);
    rows_expect(r, "no_metadata a 1 0");
    assert_int_equal(r->object[31], 6);
    rows_pass(r, 5, "a", 0, 4); /* unless the engine ran it again */
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
}

static void other_messages_are_not_looked_at(void **state)
{
    struct rows *r = *state;

    rows_step(r, 1, 1);
    rows_run(r, sqlite3_mprintf("INSERT INTO exchange(seq,api,api_id,status,"
                                "tokens_out) VALUES(2,'','x',200,3)"));
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.exchanges, 0);
}

static void without_a_feed_exchanges_are_counted_uncovered(void **state)
{
    struct rows *r = *state;

    rows_exchange(r, 2, "a", 1, (struct seconds){1, 2});
    rows_exchange(r, 3, "b", 1, (struct seconds){2, 3});
    r->options.feed_required = false;
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 0);
    assert_int_equal(r->counts.no_feed, 2);
    r->options.feed_required = true;
    rows_reconcile(r, 0, 100);
    assert_int_equal(r->n, 2);
    assert_int_equal(r->counts.no_feed, 0);
}

static void feed_that_once_spoke_is_required(void **state)
{
    struct rows *r = *state;

    rows_pass(r, 1, "z", 0, 4);
    rows_exchange(r, 12, "a", 1, (struct seconds){11, 12});
    r->options.feed_required = false;
    rows_reconcile(r, 10, 20);
    rows_expect(r, "no_metadata a 1 0");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_set_up, rows_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_sequence_is_no_finding),
        TEST(finding_points_at_the_exchange_and_the_step),
        TEST(orphan_points_at_its_first_batch_step),
        TEST(row_recorded_after_the_end_is_looked_at),
        TEST(sequence_belongs_to_the_epoch_of_its_last_row),
        TEST(exchange_of_the_next_epoch_takes_its_sequence),
        TEST(answer_without_id_takes_the_sequence_of_its_shape),
        TEST(shape_is_taken_across_the_edge_of_an_epoch),
        TEST(answers_of_one_request_are_taken_together),
        TEST(named_answer_takes_no_sequence_by_shape),
        TEST(engines_own_id_may_be_any_answers),
        TEST(id_is_the_engines_own_only_if_its_feed_says_so),
        TEST(id_is_no_engines_own_once_a_message_denies_it),
        TEST(sequence_out_of_time_is_no_ones_by_shape),
        TEST(rewind_allows_positions_again),
        TEST(rejected_drafts_are_rewound_to_their_position),
        TEST(drafts_rejected_at_the_end_are_not_sampled),
        TEST(rewound_sequence_that_waits_is_no_orphan),
        TEST(client_that_left_may_miss_tokens_of_the_sequence),
        TEST(counted_events_are_a_lower_bound),
        TEST(request_cut_before_its_answer_accounts_for_one_sequence),
        TEST(refused_request_needs_no_sequence_and_hides_none),
        TEST(answer_given_again_under_its_id_has_no_sequence),
        TEST(other_messages_are_not_looked_at),
        TEST(without_a_feed_exchanges_are_counted_uncovered),
        TEST(feed_that_once_spoke_is_required),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
