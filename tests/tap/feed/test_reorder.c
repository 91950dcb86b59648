/*
 * test_reorder.c - messages of batch feeds in the order of their numbers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "feed/reorder.h"

struct heard {
    char text[4096];
    size_t n;
};

static void put(struct heard *h, const char *what, uint64_t v)
{
    h->n += (size_t)snprintf(h->text + h->n, sizeof h->text - h->n, "%s%llu ",
                             what, (unsigned long long)v);
}

static void on_step(void *ctx, struct step_message *m)
{
    put(ctx, "", m->step.seq);
    step_message_free(m);
}

static void on_again(void *ctx, struct step_message *m)
{
    put(ctx, "again ", m->step.seq);
    step_message_free(m);
}

static void on_missing(void *ctx, const struct feed_gap *g)
{
    assert_true(span_eq_str(g->engine, "e0") && g->feed.n > 0);
    assert_true(g->from_ns <= g->to_ns);
    put(ctx, "missing ", g->n);
}

static void add(struct reorder *o, const char *feed, uint64_t seq, int mark,
                int64_t at)
{
    struct step_message *m = calloc(1, sizeof *m + 512);
    const char *why;
    int n;

    assert_non_null(m);
    n = snprintf((char *)m->text, 512,
                 "{\"assay\":\"batch-step/1\",\"engine\":\"e0\","
                 "\"feed\":\"%s\",\"seq\":%llu,\"step\":%d,"
                 "\"time_ns\":\"1\",\"padded\":0,\"members\":[]}",
                 feed, (unsigned long long)seq, mark);
    m->n = (size_t)n;
    m->time_ns = m->arrived_ns = at;
    m->digest[0] = (uint8_t)mark;
    assert_int_equal(batch_step_read(span_of(m->text, m->n), &m->step, &why),
                     PARSE_OK);
    reorder_add(o, m);
}

static void gives_messages_in_order_and_names_gaps(void **state)
{
    struct heard heard = {.n = 0};
    struct reorder_handler h = {on_step, on_again, on_missing, &heard};
    struct reorder *o;

    (void)state;
    assert_int_equal(reorder_open(100, &h, &o), 0);
    add(o, "a", 0, 1, 10);
    add(o, "a", 2, 1, 20); /* waits for 1 */
    add(o, "a", 1, 1, 30);
    add(o, "a", 1, 1, 31); /* sent again */
    add(o, "a", 1, 9, 32); /* another message under the same number */
    add(o, "a", 5, 1, 40);
    add(o, "a", 5, 1, 41); /* sent again while it waits */
    reorder_tick(o, 100);
    add(o, "b", 0, 1, 110); /* the emitter started anew */
    reorder_tick(o, 140);   /* 3 and 4 do not come */
    add(o, "a", 3, 1, 150); /* or late */
    add(o, "a", 6, 1, 151);
    add(o, "b", 3, 1, 160);
    reorder_flush(o);
    assert_string_equal(heard.text, "0 1 2 again 1 1 0 missing 2 5 again 5 3 6 "
                                    "missing 2 3 ");
    reorder_close(o);
}

static void counts_what_came_before_a_feed_was_first_seen(void **state)
{
    struct heard heard = {.n = 0};
    struct reorder_handler h = {on_step, on_again, on_missing, &heard};
    struct reorder *o;

    (void)state;
    assert_int_equal(reorder_open(100, &h, &o), 0);
    add(o, "a", 7, 1, 10);
    reorder_flush(o);
    assert_string_equal(heard.text, "missing 7 7 ");
    reorder_close(o);
}

static void forgets_the_feed_silent_longest(void **state)
{
    struct heard heard = {.n = 0};
    struct reorder_handler h = {on_step, on_again, on_missing, &heard};
    struct reorder *o;
    char feed[16];

    (void)state;
    assert_int_equal(reorder_open(100, &h, &o), 0);
    add(o, "first", 0, 1, 5);
    for (int i = 0; i < 64; i++) {
        (void)snprintf(feed, sizeof feed, "f%d", i);
        add(o, feed, 0, 1, 10 + i);
    }
    heard.n = 0;
    add(o, "f63", 1, 1, 200); /* known still */
    add(o, "first", 1, 1, 201);
    reorder_flush(o);
    assert_string_equal(heard.text, "1 missing 1 1 ");
    reorder_close(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_messages_in_order_and_names_gaps),
        cmocka_unit_test(counts_what_came_before_a_feed_was_first_seen),
        cmocka_unit_test(forgets_the_feed_silent_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
