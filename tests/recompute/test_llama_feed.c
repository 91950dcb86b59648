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

#include "llama/feed.h"

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

static void rows_are_of_their_turns(void **state)
{
    struct told t = {.n = 0};
    struct feed f;

    (void)state;
    tell(&t, 0, FIRST, "\"R 3 0\"");
    tell(&t, 1, COPIED "," NEXT, "\"C 3 0\"");
    assert_int_equal(feed_read(t.messages, t.n, &f), 0);
    assert_int_equal(f.n_turns, 2);
    assert_int_equal(f.n_rows, 3);
    assert_int_equal(f.turns[0].slot, 3);
    assert_int_equal(f.turns[0].first_ns, 100);
    assert_int_equal(f.turns[0].n_prompt, 3);
    assert_int_equal(f.turns[0].n_rows, 2);
    assert_int_equal(f.turns[0].rows[1], 2);
    assert_int_equal(f.turns[0].ids[3], 7);
    /* The copied slot shares the row that chose both first tokens. */
    assert_int_equal(f.turns[1].rows[0], f.turns[0].rows[0]);
    assert_int_equal(f.turns[1].rows[1], 1);
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
    assert_false(f.plan.ops[2].wanted);
    assert_true(f.plan.ops[3].wanted);
    assert_true(f.plan.ops[5].wanted);
    feed_fini(&f);
}

static void a_missing_number_is_no_feed(void **state)
{
    struct told t = {.n = 0};
    struct feed f;

    (void)state;
    tell(&t, 1, FIRST, "");
    assert_int_equal(feed_read(t.messages, t.n, &f), -ENODATA);
    t.n = 0;
    tell(&t, 0, FIRST, "");
    tell(&t, 2, NEXT, "");
    assert_int_equal(feed_read(t.messages, t.n, &f), -ENODATA);
}

static void contradictions_are_refused(void **state)
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
        {"7", ""},
    };
    struct feed f;

    (void)state;
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        struct told t = {.n = 0};

        tell(&t, 0, FIRST, "");
        tell(&t, 1, second[i][0], second[i][1]);
        assert_int_equal(feed_read(t.messages, t.n, &f), -EBADMSG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_of_their_turns),
        cmocka_unit_test(the_plan_is_the_engines),
        cmocka_unit_test(a_missing_number_is_no_feed),
        cmocka_unit_test(contradictions_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
