/*
 * test_fragment.c - datagrams from fragments: order, overlap, bombs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/fragment.h"

enum { POOL = 8, TIMEOUT_NS = 1000000 };

static struct fragment_pool *pool;
static struct datagram_out out;
static int64_t now_ns;

static int set_up(void **state)
{
    (void)state;
    now_ns = 0;
    return fragment_open(POOL, TIMEOUT_NS, &pool);
}

static int tear_down(void **state)
{
    const struct fragment_counters *c = fragment_counters(pool);

    (void)state;
    fragment_flush(pool);
    assert_true(c->held == 0);
    fragment_close(pool);
    return 0;
}

static enum fragment_result push(uint8_t version, uint32_t id, uint32_t offset,
                                 bool more, const char *text)
{
    struct fragment f = {
        .ip = {.version = version, .protocol = 6, .src = {1}, .dst = {2}},
        .id = id,
        .offset = offset,
        .more = more,
        .bytes = span_str(text),
    };

    return fragment_push(pool, &f, now_ns, &out);
}

static void assert_body(const char *text)
{
    assert_int_equal(out.body.n, strlen(text));
    assert_memory_equal(out.body.p, text, out.body.n);
    assert_int_equal(out.ip.protocol, 6);
}

static void joins_fragments_in_any_order(void **state)
{
    (void)state;
    assert_int_equal(push(4, 1, 16, false, "end"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 0, true, "aaaaaaaa"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 8, true, "bbbbbbbb"), FRAGMENT_WHOLE);
    assert_body("aaaaaaaabbbbbbbbend");
    assert_int_equal(fragment_counters(pool)->joined, 2);
    assert_int_equal(fragment_counters(pool)->held, 0);
}

static void keeps_datagrams_apart(void **state)
{
    (void)state;
    assert_int_equal(push(4, 1, 0, true, "aaaaaaaa"), FRAGMENT_HELD);
    assert_int_equal(push(4, 2, 8, false, "two"), FRAGMENT_HELD);
    assert_int_equal(push(6, 1, 8, false, "six"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 8, false, "one"), FRAGMENT_WHOLE);
    assert_body("aaaaaaaaone");
}

static void the_first_copy_of_an_ipv4_overlap_wins(void **state)
{
    (void)state;
    assert_int_equal(push(4, 1, 0, true, "good1234"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 0, true, "evil1234evil5678"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 16, false, "."), FRAGMENT_WHOLE);
    assert_body("good1234evil5678.");
    assert_true(out.conflict);
    assert_int_equal(fragment_counters(pool)->conflicts, 1);
    assert_int_equal(push(4, 2, 0, true, "good1234"), FRAGMENT_HELD);
    assert_int_equal(push(4, 2, 0, true, "good1234"), FRAGMENT_HELD);
    assert_int_equal(push(4, 2, 8, false, "."), FRAGMENT_WHOLE);
    assert_false(out.conflict);
}

static void an_ipv6_overlap_ends_the_datagram(void **state)
{
    (void)state;
    assert_int_equal(push(6, 1, 0, true, "good1234"), FRAGMENT_HELD);
    assert_int_equal(push(6, 1, 0, true, "good1234"), FRAGMENT_HELD);
    assert_int_equal(push(6, 1, 0, true, "good1234more5678"), FRAGMENT_REFUSED);
    assert_int_equal(push(6, 1, 8, false, "."), FRAGMENT_HELD);
    assert_int_equal(fragment_counters(pool)->lost, 2);
}

static void impossible_fragments_harm_no_other(void **state)
{
    (void)state;
    assert_int_equal(push(4, 1, 0, true, "aaaaaaaa"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 8, true, "seven77"), FRAGMENT_REFUSED);
    assert_int_equal(push(4, 1, 65528, false, "too far away"),
                     FRAGMENT_REFUSED);
    assert_int_equal(push(4, 1, 8, true, ""), FRAGMENT_REFUSED);
    assert_int_equal(push(4, 1, 8, false, "end"), FRAGMENT_WHOLE);
    assert_body("aaaaaaaaend");
    assert_int_equal(push(4, 9, 8, true, ""), FRAGMENT_REFUSED);
    assert_int_equal(fragment_counters(pool)->held, 0);
}

static void two_different_ends_cannot_be(void **state)
{
    (void)state;
    assert_int_equal(push(4, 1, 16, false, "end"), FRAGMENT_HELD);
    assert_int_equal(push(4, 1, 16, false, "ends"), FRAGMENT_REFUSED);
    assert_int_equal(push(4, 1, 8, false, "early"), FRAGMENT_REFUSED);
    assert_int_equal(push(4, 1, 24, true, "beyond.."), FRAGMENT_REFUSED);
}

static void gives_up_after_the_time(void **state)
{
    (void)state;
    assert_int_equal(push(4, 1, 0, true, "aaaaaaaa"), FRAGMENT_HELD);
    now_ns = TIMEOUT_NS - 1;
    fragment_tick(pool, now_ns);
    assert_int_equal(fragment_counters(pool)->timeouts, 0);
    now_ns = TIMEOUT_NS;
    fragment_tick(pool, now_ns);
    assert_int_equal(fragment_counters(pool)->timeouts, 1);
    assert_int_equal(fragment_counters(pool)->lost, 1);
    assert_int_equal(fragment_counters(pool)->lost_bytes, 8);
    assert_int_equal(push(4, 1, 8, false, "end"), FRAGMENT_HELD);
}

static void a_bomb_pushes_out_the_oldest_and_is_counted(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(push(4, i, 65520, true, "bomb8888"), FRAGMENT_HELD);
    assert_int_equal(fragment_counters(pool)->evicted, 10000 - POOL);
    assert_int_equal(fragment_counters(pool)->held, POOL);
    assert_int_equal(fragment_counters(pool)->lost, 10000 - POOL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(joins_fragments_in_any_order),
        TEST(keeps_datagrams_apart),
        TEST(the_first_copy_of_an_ipv4_overlap_wins),
        TEST(an_ipv6_overlap_ends_the_datagram),
        TEST(impossible_fragments_harm_no_other),
        TEST(two_different_ends_cannot_be),
        TEST(gives_up_after_the_time),
        TEST(a_bomb_pushes_out_the_oldest_and_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
