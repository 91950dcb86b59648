/*
 * test_notice.c - records of what is no exchange, and many made few.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/kind.h"
#include "uplink/tally.h"

static void check(const struct notice *n)
{
    struct record *r = malloc(sizeof *r);
    const char *why = "";

    assert_non_null(r);
    notice_record(n, span_str("tap0"), r);
    if (r->full || !record_check_body(kind_find(notice_record_kind(n)),
                                      span_of(r->text, r->n), &why))
        fail_msg("%s: %s", notice_record_kind(n), why);
    free(r);
}

static void writes_bodies_that_the_grammar_accepts(void **state)
{
    struct notice n;

    (void)state;
    notice_init(&n, NOTICE_UNPARSED, "tls", 5);
    (void)snprintf(n.client, sizeof n.client, "[::1]:80");
    check(&n);
    notice_init(&n, NOTICE_LOSS, "gap", -1);
    check(&n);
    notice_init(&n, NOTICE_TRAFFIC, NULL, 5);
    (void)snprintf(n.object, sizeof n.object, "file:a b.pcap");
    n.traffic.payload_bytes = INT64_MAX;
    check(&n);
}

struct heard {
    size_t n;
    uint64_t count, bytes;
    struct notice last;
    bool full;
};

static bool take(void *ctx, const struct notice *n)
{
    struct heard *h = ctx;

    if (h->full)
        return false;
    h->n++;
    h->count += n->count;
    h->bytes += n->bytes;
    h->last = *n;
    return true;
}

static void add(struct tally *t, const char *cause, const char *client,
                int64_t time_ns)
{
    struct notice n;

    notice_init(&n, NOTICE_UNPARSED, cause, time_ns);
    n.bytes = 10;
    (void)snprintf(n.client, sizeof n.client, "%s", client);
    tally_add(t, &n);
}

static void makes_many_of_a_cause_into_few(void **state)
{
    struct heard h = {0};
    struct tally t;

    (void)state;
    tally_init(&t, 3, take, &h);
    for (int i = 0; i < 1000; i++)
        add(&t, "tls", i % 2 == 0 ? "a" : "b", 100 + i);
    add(&t, "http2", "a", 5);
    assert_int_equal(h.n, 4);
    tally_flush(&t);
    assert_int_equal(h.n, 5);
    assert_int_equal(h.count, 1001);
    assert_int_equal(h.bytes, 10010);
    assert_int_equal(h.last.count, 997);
    assert_int_equal(h.last.from_ns, 103);
    assert_int_equal(h.last.to_ns, 1099);
    assert_string_equal(h.last.client, ""); /* several clients */
    tally_flush(&t);
    assert_int_equal(h.n, 5);
    add(&t, "tls", "a", 2000); /* a new interval */
    assert_int_equal(h.n, 6);
}

static void keeps_what_finds_no_room(void **state)
{
    struct heard h = {.full = true};
    struct tally t;

    (void)state;
    tally_init(&t, 3, take, &h);
    for (int i = 0; i < 10; i++)
        add(&t, "tls", "a", 100 + i);
    tally_flush(&t);
    assert_int_equal(h.n, 0);
    h.full = false;
    tally_flush(&t);
    assert_int_equal(h.count, 10);
    assert_string_equal(h.last.client, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_bodies_that_the_grammar_accepts),
        cmocka_unit_test(makes_many_of_a_cause_into_few),
        cmocka_unit_test(keeps_what_finds_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
