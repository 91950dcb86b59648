/*
 * test_reconcile.c - the rules of reconcile.h, each on a world of a few rows;
 * test_reconcile_captures.py has the same on real traffic.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reconcile/kind_tables.h"
#include "sampler/reconcile.h"

enum { SECOND = 1000000000 };

struct world {
    sqlite3 *db;
    char found[8][96]; /* "class request expected seen" */
    size_t n;
    uint8_t object[32]; /* of the last */
    struct reconcile_counts counts;
    struct reconcile_options options;
};

static void add_finding(void *context, const struct finding *f)
{
    struct world *w = context;

    assert_true(w->n < 8);
    (void)snprintf(w->found[w->n++], sizeof *w->found, "%s %s %llu %llu",
                   f->class, f->request, (unsigned long long)f->expected,
                   (unsigned long long)f->seen);
    memcpy(w->object, f->object, sizeof w->object);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    w->db = kind_tables_open();
    w->options = (struct reconcile_options){true, SECOND, add_finding, w};
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    sqlite3_close(w->db);
    free(w);
    return 0;
}

static void run(struct world *w, char *sql)
{
    assert_non_null(sql);
    assert_int_equal(sqlite3_exec(w->db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
}

/* A complete exchange of 4 prompt and `out` sampled tokens, from second `from`
 * to `to`. */
static void exchange(struct world *w, int seq, const char *id, int out,
                     int from, int to)
{
    run(w, sqlite3_mprintf(
               "INSERT INTO exchange(seq,unit,api,api_id,status,tokens_in,"
               "tokens_out,tokens_from,choices,complete,req_first_ns,"
               "resp_last_ns) VALUES(%d,zeroblob(31)||char(%d),'openai.chat',"
               "%Q,200,4,%d,'usage',1,1,%lld,%lld)",
               seq, seq, id, out, (long long)from * SECOND,
               (long long)to * SECOND));
}

static void step(struct world *w, int seq, int second)
{
    run(w, sqlite3_mprintf("INSERT INTO batch_step(seq,unit,engine,step,"
                           "step_ns) VALUES(%d,zeroblob(31)||char(%d),'e0',%d,"
                           "%lld)",
                           seq, seq, seq, (long long)second * SECOND));
}

static void row(struct world *w, int seq, const char *id, int start, int n)
{
    run(w, sqlite3_mprintf(
               "INSERT INTO batch_step_member SELECT %d,count(*),%Q,0,%d,%d,0,"
               "%d,zeroblob(32) FROM batch_step_member WHERE seq=%d",
               seq, id, start, n, start == 0 ? 4 : 0, seq));
}

/* A step with one row. */
static void pass(struct world *w, int seq, const char *id, int start, int n)
{
    step(w, seq, seq);
    row(w, seq, id, start, n);
}

static void reconcile(struct world *w, uint64_t first, uint64_t end)
{
    w->n = 0;
    assert_int_equal(
        reconcile_epoch(w->db, first, end, &w->options, &w->counts), 0);
    assert_int_equal(w->counts.findings, w->n);
}

static void expect(struct world *w, const char *finding)
{
    assert_int_equal(w->n, 1);
    assert_string_equal(w->found[0], finding);
}

static void whole_sequence_is_no_finding(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 2, "a", 4, 1);
    pass(w, 3, "a", 5, 1);
    exchange(w, 4, "a", 3, 1, 4);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.exchanges, 1);
    assert_int_equal(w->counts.matched, 1);
    assert_int_equal(w->counts.by_shape, 0);
}

static void finding_points_at_the_exchange_and_the_step(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 3, "a", 5, 1);
    exchange(w, 4, "a", 3, 1, 4);
    reconcile(w, 0, 100);
    expect(w, "size_diff a 4 5");
    assert_int_equal(w->object[31], 4);
}

static void orphan_points_at_its_first_batch_step(void **state)
{
    struct world *w = *state;

    pass(w, 7, "b", 0, 4);
    pass(w, 8, "b", 4, 1);
    reconcile(w, 0, 100);
    expect(w, "orphan_metadata b 0 2");
    assert_int_equal(w->object[31], 7);
}

static void row_recorded_after_the_end_is_looked_at(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    exchange(w, 9, "a", 2, 1, 9);
    pass(w, 10, "a", 4, 1);
    reconcile(w, 0, 10);
    assert_int_equal(w->n, 0);
    /* and is no finding of its own epoch either */
    reconcile(w, 10, 20);
    assert_int_equal(w->n, 0);
}

static void sequence_belongs_to_the_epoch_of_its_last_row(void **state)
{
    struct world *w = *state;

    pass(w, 8, "b", 0, 4);
    pass(w, 11, "b", 4, 1);
    reconcile(w, 0, 10);
    assert_int_equal(w->n, 0);
    reconcile(w, 10, 20);
    expect(w, "orphan_metadata b 0 2");
}

static void exchange_of_the_next_epoch_takes_its_sequence(void **state)
{
    struct world *w = *state;

    pass(w, 8, "a", 0, 4);
    pass(w, 9, "a", 4, 1);
    exchange(w, 12, "a", 2, 8, 12);
    reconcile(w, 0, 10);
    assert_int_equal(w->n, 0);
    reconcile(w, 10, 20);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.matched, 1);
}

static void answer_without_id_takes_the_sequence_of_its_shape(void **state)
{
    struct world *w = *state;

    pass(w, 1, "t1", 0, 4);
    pass(w, 2, "t2", 0, 4);
    row(w, 2, "t1", 4, 1);
    pass(w, 3, "t1", 5, 1);
    exchange(w, 5, "", 1, 2, 3);
    exchange(w, 6, "", 3, 1, 4);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.by_shape, 2);
}

static void shape_is_taken_across_the_edge_of_an_epoch(void **state)
{
    struct world *w = *state;

    pass(w, 8, "t1", 0, 4);
    pass(w, 9, "t1", 4, 1);
    exchange(w, 12, "", 2, 8, 12);
    reconcile(w, 0, 10);
    assert_int_equal(w->n, 0);
    reconcile(w, 10, 20);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.by_shape, 1);
}

/* The step's message names its members by ids of the engine's own. */
static void name_by_engine(struct world *w, int seq)
{
    run(w, sqlite3_mprintf("UPDATE batch_step SET names='engine' WHERE seq=%d",
                           seq));
}

/* p1 is of two answers of two tokens each, p2 of one of four. */
static void answers_of_one_request_are_taken_together(void **state)
{
    struct world *w = *state;

    pass(w, 1, "p1", 0, 4);
    row(w, 1, "p1", 0, 4);
    row(w, 1, "p2", 0, 4);
    pass(w, 2, "p1", 4, 1);
    row(w, 2, "p1", 4, 1);
    row(w, 2, "p2", 4, 3);
    run(w,
        sqlite3_mprintf("UPDATE batch_step_member SET choice=1 WHERE pos=1"));
    name_by_engine(w, 1);
    name_by_engine(w, 2);
    exchange(w, 5, "x", 4, 1, 3);
    exchange(w, 6, "y", 4, 1, 3);
    run(w, sqlite3_mprintf(
               "UPDATE exchange SET choices=2,tokens_in=0 WHERE seq=5"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.by_shape, 2);
}

static void named_answer_takes_no_sequence_by_shape(void **state)
{
    struct world *w = *state;

    pass(w, 1, "b", 0, 4);
    exchange(w, 2, "a", 1, 1, 2);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 2);
    assert_string_equal(w->found[0], "no_metadata a 1 0");
    assert_string_equal(w->found[1], "orphan_metadata b 0 1");
}

static void engines_own_id_may_be_any_answers(void **state)
{
    struct world *w = *state;

    pass(w, 1, "b", 0, 4);
    name_by_engine(w, 1);
    exchange(w, 2, "a", 1, 1, 2);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.by_shape, 1);
}

/* What the ids look like says nothing. */
static void id_is_the_engines_own_only_if_its_feed_says_so(void **state)
{
    struct world *w = *state;

    pass(w, 1, "task:0", 0, 4);
    exchange(w, 2, "a", 1, 1, 2);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 2);
    assert_string_equal(w->found[0], "no_metadata a 1 0");
    assert_string_equal(w->found[1], "orphan_metadata task:0 0 1");
}

static void id_is_no_engines_own_once_a_message_denies_it(void **state)
{
    struct world *w = *state;

    for (int denied = 1; denied <= 2; denied++) {
        run(w, sqlite3_mprintf("DELETE FROM batch_step"));
        run(w, sqlite3_mprintf("DELETE FROM batch_step_member"));
        run(w, sqlite3_mprintf("DELETE FROM exchange"));
        pass(w, 1, "b", 0, 4);
        pass(w, 2, "b", 4, 1);
        exchange(w, 3, "a", 2, 1, 3);
        name_by_engine(w, 3 - denied);
        reconcile(w, 0, 100);
        assert_int_equal(w->n, 2);
        assert_string_equal(w->found[0], "no_metadata a 2 0");
        assert_string_equal(w->found[1], "orphan_metadata b 0 2");
        name_by_engine(w, denied);
        reconcile(w, 0, 100);
        assert_int_equal(w->n, 0);
    }
}

static void sequence_out_of_time_is_no_ones_by_shape(void **state)
{
    struct world *w = *state;

    pass(w, 1, "t1", 0, 4);
    exchange(w, 2, "", 1, 7, 8);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 2);
}

static void rewind_allows_positions_again(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 2, "a", 4, 1);
    pass(w, 3, "a", 0, 5);
    pass(w, 4, "a", 5, 1);
    exchange(w, 5, "a", 3, 1, 5);
    reconcile(w, 0, 100);
    expect(w, "dup_metadata a 5 0");
    run(w, sqlite3_mprintf(
               "INSERT INTO batch_step_op VALUES(3,0,'rewind a 1 0')"));
    reconcile(w, 0, 100);
    expect(w, "dup_metadata a 5 0"); /* another choice's */
    run(w, sqlite3_mprintf(
               "INSERT INTO batch_step_op VALUES(3,1,'rewind a 0 0')"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
}

static void rejected_drafts_are_rewound_to_their_position(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 2, "a", 4, 4); /* three drafts, two of them rejected */
    pass(w, 3, "a", 6, 1);
    exchange(w, 5, "a", 4, 1, 5);
    reconcile(w, 0, 100);
    expect(w, "size_diff a 8 6");
    run(w, sqlite3_mprintf(
               "INSERT INTO batch_step_op VALUES(3,0,'rewind a 0 6')"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
}

static void drafts_rejected_at_the_end_are_not_sampled(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 2, "a", 4, 4);
    exchange(w, 5, "a", 3, 1, 5);
    reconcile(w, 0, 100);
    expect(w, "size_diff a 3 5");
    step(w, 3, 3);
    run(w, sqlite3_mprintf(
               "INSERT INTO batch_step_op VALUES(3,0,'rewind a 0 6')"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
}

static void rewound_sequence_that_waits_is_no_orphan(void **state)
{
    struct world *w = *state;

    pass(w, 1, "b", 0, 4);
    pass(w, 2, "c", 0, 4);
    run(w, sqlite3_mprintf(
               "INSERT INTO batch_step_op VALUES(2,0,'rewind b 0 0')"));
    reconcile(w, 0, 100);
    expect(w, "orphan_metadata c 0 1");
}

static void client_that_left_may_miss_tokens_of_the_sequence(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 2, "a", 4, 1);
    exchange(w, 3, "a", 1, 1, 3);
    run(w, sqlite3_mprintf("UPDATE exchange SET complete=0,cause='client_cut',"
                           "tokens_from='tokens'"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    run(w, sqlite3_mprintf("UPDATE exchange SET tokens_out=3"));
    reconcile(w, 0, 100);
    expect(w, "size_diff a 3 2");
}

static void counted_events_are_a_lower_bound(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    pass(w, 2, "a", 4, 1);
    exchange(w, 3, "a", 1, 1, 3);
    run(w, sqlite3_mprintf("UPDATE exchange SET tokens_from='events'"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    run(w, sqlite3_mprintf("UPDATE exchange SET tokens_from='tokens'"));
    reconcile(w, 0, 100);
    expect(w, "size_diff a 1 2");
}

static void
request_cut_before_its_answer_accounts_for_one_sequence(void **state)
{
    struct world *w = *state;

    pass(w, 1, "b", 0, 4);
    exchange(w, 2, "", 0, 1, 2);
    run(w, sqlite3_mprintf("UPDATE exchange SET complete=0,status=0,"
                           "cause='client_cut',tokens_in=0"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    pass(w, 3, "c", 0, 4);
    reconcile(w, 0, 100);
    expect(w, "orphan_metadata c 0 1");
}

static void refused_request_needs_no_sequence_and_hides_none(void **state)
{
    struct world *w = *state;

    pass(w, 1, "b", 0, 4);
    exchange(w, 2, "", 0, 1, 2);
    run(w, sqlite3_mprintf("UPDATE exchange SET status=400,tokens_in=0"));
    reconcile(w, 0, 100);
    expect(w, "orphan_metadata b 0 1");
}

static void answer_given_again_under_its_id_has_no_sequence(void **state)
{
    struct world *w = *state;

    pass(w, 1, "a", 0, 4);
    exchange(w, 2, "a", 1, 1, 2);
    exchange(w, 6, "a", 1, 5, 6);
    reconcile(w, 0, 100);
    expect(w, "no_metadata a 1 0");
    assert_int_equal(w->object[31], 6);
    pass(w, 5, "a", 0, 4); /* unless the engine ran it again */
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
}

static void other_messages_are_not_looked_at(void **state)
{
    struct world *w = *state;

    step(w, 1, 1);
    run(w, sqlite3_mprintf("INSERT INTO exchange(seq,api,api_id,status,"
                           "tokens_out) VALUES(2,'','x',200,3)"));
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.exchanges, 0);
}

static void without_a_feed_exchanges_are_counted_uncovered(void **state)
{
    struct world *w = *state;

    exchange(w, 2, "a", 1, 1, 2);
    exchange(w, 3, "b", 1, 2, 3);
    w->options.feed_required = false;
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->counts.no_feed, 2);
    w->options.feed_required = true;
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 2);
    assert_int_equal(w->counts.no_feed, 0);
}

static void feed_that_once_spoke_is_required(void **state)
{
    struct world *w = *state;

    pass(w, 1, "z", 0, 4);
    exchange(w, 12, "a", 1, 11, 12);
    w->options.feed_required = false;
    reconcile(w, 10, 20);
    expect(w, "no_metadata a 1 0");
}

/* A tap's account of the seconds from `from` to `to`. */
static void account(struct world *w, int seq, const char *source, int from,
                    int to)
{
    run(w, sqlite3_mprintf(
               "INSERT INTO traffic(seq,unit,tap,source,from_ns,to_ns) VALUES("
               "%d,zeroblob(31)||char(%d),'t',%Q,%lld,%lld)",
               seq, seq, source, (long long)from * SECOND,
               (long long)to * SECOND));
}

/* Plan b of the seconds 7 and 8, as the feed tells it at last. */
static void sequence_of_b(struct world *w, int seq)
{
    step(w, seq, 7);
    row(w, seq, "b", 0, 4);
    step(w, seq + 1, 8);
    row(w, seq + 1, "b", 4, 1);
}

static void sequence_while_the_tap_was_down_is_no_orphan(void **state)
{
    struct world *w = *state;

    account(w, 1, "live:lo", 0, 1);
    account(w, 2, "live:lo", 1, 6);
    account(w, 3, "live:lo", 30, 30);
    sequence_of_b(w, 4);
    reconcile(w, 0, 100);
    expect(w, "tap_down  0 1");
    assert_int_equal(w->object[31], 3);
    /* In the epoch after the one that saw the tap come back: told again, as
     * there is something to tell. */
    reconcile(w, 0, 4);
    expect(w, "tap_down  0 0");
    reconcile(w, 4, 100);
    expect(w, "tap_down  0 1");
}

static void time_without_the_tap_is_told_though_nobody_ran(void **state)
{
    struct world *w = *state;

    account(w, 1, "live:lo", 0, 6);
    account(w, 2, "file:a.pcap", 2, 3);
    account(w, 3, "live:lo", 6, 7);
    account(w, 4, "live:lo", 8, 9);
    reconcile(w, 0, 100);
    expect(w, "tap_down  0 0");
    assert_int_equal(w->object[31], 4);
    reconcile(w, 5, 100);
    assert_int_equal(w->n, 0);
}

static void sequence_while_the_tap_ran_is_an_orphan(void **state)
{
    struct world *w = *state;

    account(w, 1, "live:lo", 0, 1);
    account(w, 2, "live:lo", 3, 10);
    account(w, 3, "live:lo", 11, 12);
    sequence_of_b(w, 4);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 3);
    assert_string_equal(w->found[0], "orphan_metadata b 0 2");
}

/* The tap had seen its answer, perhaps, and not recorded it. */
static void sequence_just_before_the_tap_was_down_is_no_orphan(void **state)
{
    struct world *w = *state;

    account(w, 1, "live:lo", 0, 9);
    account(w, 3, "live:lo", 20, 20);
    sequence_of_b(w, 4);
    reconcile(w, 0, 100);
    expect(w, "tap_down  0 1");
}

static void sequence_waits_until_its_time_is_accounted_for(void **state)
{
    struct world *w = *state;

    account(w, 1, "live:lo", 0, 6);
    sequence_of_b(w, 2);
    reconcile(w, 0, 10);
    assert_int_equal(w->n, 0);
    account(w, 11, "live:lo", 6, 9);
    reconcile(w, 0, 10);
    assert_int_equal(w->n, 0);
    reconcile(w, 10, 20);
    expect(w, "orphan_metadata b 0 2");
    account(w, 21, "live:lo", 9, 12);
    reconcile(w, 20, 30);
    assert_int_equal(w->n, 0);
}

static void sequence_before_the_tap_began_is_told(void **state)
{
    struct world *w = *state;

    account(w, 3, "live:lo", 30, 30);
    reconcile(w, 0, 100);
    assert_int_equal(w->n, 0);
    sequence_of_b(w, 4);
    reconcile(w, 0, 100);
    expect(w, "tap_down  0 1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

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
        TEST(sequence_while_the_tap_was_down_is_no_orphan),
        TEST(time_without_the_tap_is_told_though_nobody_ran),
        TEST(sequence_while_the_tap_ran_is_an_orphan),
        TEST(sequence_just_before_the_tap_was_down_is_no_orphan),
        TEST(sequence_before_the_tap_began_is_told),
        TEST(sequence_waits_until_its_time_is_accounted_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
