/*
 * test_llama_feed.c - a batch feed's messages as a plan, whose rows are whose.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/llama/schedule/feed.h"
#include "plan_feed.h"
#include "plan_text.h"

enum { MOST = 8 };

/* Messages of a feed: each text is members and operations of one. */
struct told {
    char text[MOST][512];
    struct span messages[MOST];
    size_t n;
};

static void tell(struct told *t, unsigned seq, const char *members,
                 const char *ops)
{
    int n = snprintf(t->text[t->n], sizeof t->text[t->n],
                     "{\"assay\":\"batch-step/1\",\"engine\":\"e\",\"feed\":"
                     "\"f\",\"seq\":%u,\"step\":0,\"time_ns\":\"%u\","
                     "\"padded\":0,\"members\":[%s],\"ops\":[%s]}",
                     seq, 100 + seq, members, ops);

    assert_in_range(n, 1, sizeof t->text[0] - 1);
    t->messages[t->n] = span_str(t->text[t->n]);
    t->n++;
}

#define FIRST                                                           \
    "{\"id\":\"task:0\",\"choice\":0,\"start\":0,\"n\":3,\"cached\":0," \
    "\"ids\":[1,5,6],\"prompt\":[1,5,6],\"params\":{\"slot\":3}}"
#define NEXT                                                            \
    "{\"id\":\"task:0\",\"choice\":0,\"start\":3,\"n\":1,\"cached\":0," \
    "\"ids\":[7]}"
#define COPIED                                                          \
    "{\"id\":\"task:0\",\"choice\":1,\"start\":3,\"n\":1,\"cached\":3," \
    "\"ids\":[9],\"prompt\":[1,5,6],\"params\":{\"slot\":0}}"

static void rows_are_of_their_slot_requests(void **state)
{
    struct told t = {.n = 0};
    struct feed f;

    (void)state;
    tell(&t, 0, FIRST, "\"R 3 0\"");
    tell(&t, 1, COPIED "," NEXT, "\"C 3 0\"");
    assert_int_equal(feed_read(t.messages, t.n, &f), 0);
    assert_int_equal(f.n_requests, 2);
    assert_int_equal(f.n_rows, 3);
    assert_int_equal(f.requests[0].slot, 3);
    assert_int_equal(f.requests[0].first_ns, 100);
    assert_int_equal(f.requests[0].n_prompt, 3);
    assert_int_equal(f.requests[0].n_rows, 2);
    assert_int_equal(f.requests[0].rows[1], 2);
    assert_int_equal(f.requests[0].ids[3], 7);
    /* The copied slot shares the row that chose both first tokens. */
    assert_int_equal(f.requests[1].rows[0], f.requests[0].rows[0]);
    assert_int_equal(f.requests[1].rows[1], 1);
    assert_int_equal(f.plan.slots, 4);
    feed_fini(&f);
}

static void the_plan_is_the_engines(void **state)
{
    static const enum plan_kind kinds[] = {PLAN_REMOVE, PLAN_TOKEN,  PLAN_TOKEN,
                                           PLAN_TOKEN,  PLAN_DECODE, PLAN_TOKEN,
                                           PLAN_DECODE};
    struct told t = {.n = 0};
    struct feed f;

    (void)state;
    tell(&t, 0, FIRST, "\"R 3 0\"");
    tell(&t, 1, NEXT, "");
    assert_int_equal(feed_read(t.messages, t.n, &f), 0);
    assert_int_equal(f.plan.n, sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < f.plan.n; i++)
        assert_int_equal(f.plan.ops[i].kind, kinds[i]);
    assert_false(f.plan.ops[2].output);
    assert_true(f.plan.ops[3].output);
    assert_true(f.plan.ops[5].output);
    feed_fini(&f);
}

#define OTHER                                                           \
    "{\"id\":\"task:9\",\"choice\":0,\"start\":0,\"n\":2,\"cached\":0," \
    "\"ids\":[1,8],\"prompt\":[1,8],\"params\":{\"slot\":1}}"

static void expect_holes(const struct told *t, size_t n_holes,
                         size_t n_requests, size_t n_rows)
{
    struct feed f;
    size_t holes = 0;

    assert_int_equal(feed_read(t->messages, t->n, &f), 0);
    assert_int_equal(f.n_holes, n_holes);
    assert_int_equal(f.n_requests, n_requests);
    assert_int_equal(f.n_rows, n_rows);
    for (size_t i = 0; i < f.plan.n; i++)
        holes += f.plan.ops[i].kind == PLAN_HOLE;
    assert_int_equal(holes, n_holes);
    feed_fini(&f);
}

static void a_missing_number_is_a_hole(void **state)
{
    struct told t = {.n = 0};
    struct feed f;

    (void)state;
    tell(&t, 1, FIRST, "");
    assert_int_equal(feed_read(t.messages, t.n, &f), 0);
    assert_int_equal(f.n_holes, 1);
    assert_true(f.holes[0].from_ns == INT64_MIN);
    assert_int_equal(f.holes[0].to_ns, 101);
    assert_int_equal(f.plan.ops[0].kind, PLAN_HOLE);
    assert_int_equal(f.requests[0].hole, 1);
    feed_fini(&f);
    t.n = 0;
    tell(&t, 0, FIRST, "");
    tell(&t, 2, OTHER, "");
    assert_int_equal(feed_read(t.messages, t.n, &f), 0);
    assert_int_equal(f.n_holes, 1);
    assert_int_equal(f.holes[0].from_ns, 100);
    assert_int_equal(f.holes[0].to_ns, 102);
    assert_int_equal(f.requests[0].hole, 0);
    assert_int_equal(f.requests[1].hole, 1);
    feed_fini(&f);
}

/* What it went on with is nobody's: the hole lasts until it is over. */
static void a_request_does_not_go_on_after_a_hole(void **state)
{
    struct told t = {.n = 0};
    struct feed f;

    (void)state;
    tell(&t, 0, FIRST, "");
    tell(&t, 2, NEXT "," OTHER, "");
    tell(&t, 3, OTHER, "");
    assert_int_equal(feed_read(t.messages, t.n, &f), 0);
    assert_int_equal(f.n_holes, 1);
    assert_int_equal(f.holes[0].to_ns, 103);
    assert_int_equal(f.n_requests, 2);
    assert_int_equal(f.requests[0].n_rows, 1);
    assert_int_equal(f.requests[0].n_ids, 3);
    assert_int_equal(f.requests[1].first_ns, 103);
    assert_int_equal(f.n_rows, 2);
    feed_fini(&f);
}

static void what_comes_again_is_passed_over(void **state)
{
    struct told t = {.n = 0};

    (void)state;
    tell(&t, 0, FIRST, "");
    tell(&t, 1, NEXT, "");
    tell(&t, 0, FIRST, "");
    expect_holes(&t, 0, 1, 2);
    tell(&t, 3, OTHER, "");
    tell(&t, 2, OTHER, ""); /* late */
    expect_holes(&t, 1, 2, 3);
}

static void contradictions_are_holes(void **state)
{
    static const char *const second[][2] = {
        {"{\"id\":\"task:1\",\"choice\":0,\"start\":3,\"n\":1,\"ids\":[7]}",
         ""}, /* of nobody */
        {"{\"id\":\"task:0\",\"choice\":0,\"start\":4,\"n\":1,\"ids\":[7]}",
         ""}, /* a hole */
        {"{\"id\":\"task:0\",\"choice\":0,\"start\":2,\"n\":1,\"ids\":[7]}",
         ""}, /* another token where one stood */
        {"{\"id\":\"task:0\",\"choice\":0,\"start\":3,\"n\":2,\"ids\":[7]}",
         ""},                  /* fewer ids than tokens */
        {NEXT, "\"shift 3\""}, /* no operation of a plan */
        {NEXT, "\"U\""},
        {NEXT, "\"H\""},
        {NEXT "," OTHER ",7", "\"R 200 0\""},
        {"7", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        struct told t = {.n = 0};

        tell(&t, 0, FIRST, "");
        tell(&t, 1, second[i][0], second[i][1]);
        expect_holes(&t, 1, 1, 1);
        t.messages[1] = span_str("no JSON");
        expect_holes(&t, 1, 1, 1);
    }
}

static bool same_op(const struct plan_op *a, const struct plan_op *b)
{
    return a->kind == b->kind && a->output == b->output && a->slot == b->slot &&
           a->id == b->id && a->position == b->position;
}

/* A plan's text as messages, and read again: the same plan. */
static struct feed there_and_back(const char *text)
{
    struct plan_feed messages;
    struct plan p;
    struct feed f;
    size_t line;

    assert_int_equal(plan_text_read(span_str(text), &p, &line), PARSE_OK);
    assert_int_equal(plan_feed_init(&p, &messages), 0);
    assert_int_equal(feed_read(messages.messages, messages.n, &f), 0);
    assert_int_equal(f.n_holes, 0);
    assert_int_equal(f.plan.slots, p.slots);
    assert_int_equal(f.plan.n, p.n);
    for (size_t i = 0; i < p.n; i++)
        assert_true(same_op(&f.plan.ops[i], &p.ops[i]));
    plan_feed_fini(&messages);
    plan_fini(&p);
    return f;
}

static void a_removal_begins_a_request_with_what_is_left(void **state)
{
    struct feed f = there_and_back("T 1 0 0 0\nT 5 1 0 1\nU\nT 6 2 0 1\nU\n"
                                   "R 0 2\nT 9 2 0 1\nU\n");

    (void)state;
    assert_int_equal(f.n_requests, 2);
    assert_int_equal(f.requests[0].n_prompt, 2);
    assert_int_equal(f.requests[0].n_ids, 3);
    assert_int_equal(f.requests[0].n_rows, 2);
    assert_int_equal(f.requests[1].n_prompt, 3);
    assert_int_equal(f.requests[1].ids[1], 5);
    assert_int_equal(f.requests[1].ids[2], 9);
    feed_fini(&f);
}

static void a_copy_shares_the_row_that_ended_the_prompt(void **state)
{
    struct feed f = there_and_back("T 1 0 0 0\nT 5 1 0 1\nU\nC 0 1\n"
                                   "T 6 2 0 1\nT 7 2 1 1\nU\n");

    (void)state;
    assert_int_equal(f.n_requests, 2);
    assert_int_equal(f.n_rows, 3);
    assert_string_equal(f.requests[1].id, f.requests[0].id);
    assert_int_equal(f.requests[1].choice, 1);
    assert_int_equal(f.requests[1].n_prompt, 2);
    assert_int_equal(f.requests[1].n_rows, 2);
    assert_int_equal(f.requests[1].rows[0], f.requests[0].rows[0]);
    feed_fini(&f);
}

static void a_load_brings_back_what_was_saved(void **state)
{
    struct feed f = there_and_back("T 1 0 0 0\nT 5 1 0 1\nU\nS 0 4\nR 0 0\n"
                                   "L 2 4\nR 2 1\nT 8 1 2 1\nU\n");

    (void)state;
    assert_int_equal(f.n_requests, 2);
    assert_int_equal(f.requests[1].slot, 2);
    assert_int_equal(f.requests[1].n_prompt, 2);
    assert_int_equal(f.requests[1].ids[0], 1);
    assert_int_equal(f.requests[1].ids[1], 8);
    feed_fini(&f);
}

/* Its client left: no row of it is an answer's. */
static void a_prompt_that_was_not_done_has_no_row(void **state)
{
    struct feed f =
        there_and_back("T 1 0 0 0\nT 5 1 0 0\nU\nR 0 0\nT 1 0 0 1\nU\n");

    (void)state;
    assert_int_equal(f.n_requests, 2);
    assert_int_equal(f.requests[0].n_rows, 0);
    assert_int_equal(f.requests[1].n_rows, 1);
    feed_fini(&f);
}

static void a_plan_that_contradicts_itself_is_no_feed(void **state)
{
    static const char *const bad[] = {"L 0 3\nU\n", "T 1 0 0 0\nT 1 2 0 1\nU\n",
                                      "T 1 0 0 1\nT 5 1 0 0\nU\n", "H\nU\n"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct plan_feed messages;
        struct plan p;
        size_t line;

        assert_int_equal(plan_text_read(span_str(bad[i]), &p, &line), PARSE_OK);
        assert_int_equal(plan_feed_init(&p, &messages), -EINVAL);
        plan_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_of_their_slot_requests),
        cmocka_unit_test(the_plan_is_the_engines),
        cmocka_unit_test(a_missing_number_is_a_hole),
        cmocka_unit_test(a_request_does_not_go_on_after_a_hole),
        cmocka_unit_test(what_comes_again_is_passed_over),
        cmocka_unit_test(contradictions_are_holes),
        cmocka_unit_test(a_removal_begins_a_request_with_what_is_left),
        cmocka_unit_test(a_copy_shares_the_row_that_ended_the_prompt),
        cmocka_unit_test(a_load_brings_back_what_was_saved),
        cmocka_unit_test(a_prompt_that_was_not_done_has_no_row),
        cmocka_unit_test(a_plan_that_contradicts_itself_is_no_feed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
