/*
 * test_again.c - a record that is sent again, because its connection broke,
 * stands in the log once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "daemon_fixture.h"
#include "ledger/recent.h"
#include "tables.h"

static struct put_ack put_with(struct store_client *c, unsigned n, bool again,
                               size_t payloads)
{
    struct payload body = {"req_body", span_str("payload")};
    struct put_ack ack;
    struct record r;
    struct put p = {"exchange", &r, &body, payloads, again};

    sample_exchange(&r, n);
    assert_int_equal(store_put(c, &p, &ack), 0);
    return ack;
}

static struct put_ack put_number(struct store_client *c, unsigned n, bool again)
{
    return put_with(c, n, again, 1);
}

static struct put_ack put_bare(struct store_client *c, unsigned n, bool again)
{
    return put_with(c, n, again, 0);
}

static void assert_same(struct put_ack a, struct put_ack b)
{
    assert_int_equal(a.seq, b.seq);
    assert_memory_equal(a.unit, b.unit, sizeof a.unit);
}

static void what_is_sent_again_is_there_once(void **state)
{
    struct put_ack first[3], boundary;
    struct store_client *c;
    struct daemon_run d;

    (void)state;
    start(&d, "");
    c = connect_as(&d, "tap");
    for (unsigned i = 0; i < 3; i++)
        first[i] = put_number(c, i, false);
    assert_int_not_equal(daemon_signal(&d, SIGKILL), 0);
    store_close(c);
    daemon_start(&d);
    c = connect_as(&d, "tap");
    for (unsigned i = 0; i < 3; i++)
        assert_same(put_number(c, i, true), first[i]);
    /* One that had not come is added, and then known as well. */
    boundary = put_number(c, 3, true);
    assert_true(boundary.seq > first[2].seq);
    assert_same(put_number(c, 3, true), boundary);
    /* Nobody who says nothing is told that it was there. */
    assert_true(put_number(c, 3, false).seq > boundary.seq);
    await(&d, "SELECT count(*) FROM exchange", 5);
    store_close(c);
    stop(&d);
}

/* More leaves than are looked back over: only the latest are known. */
static void only_the_latest_are_known(void **state)
{
    struct put_ack first, last;
    struct store_client *c;
    struct daemon_run d;

    (void)state;
    start(&d, "");
    c = connect_as(&d, "tap");
    first = put_number(c, 0, false);
    for (unsigned i = 1; i <= RECENT_LEAVES; i++) {
        struct record r;
        struct put p = {"exchange", &r, NULL, 0, false};

        sample_exchange(&r, i);
        assert_int_equal(store_send(c, &p, i), 0);
    }
    while (store_unacked(c) != 0)
        assert_int_equal(store_next_ack(c, WAIT_MS, &last), 0);
    assert_int_equal(last.seq, first.seq + RECENT_LEAVES);
    assert_same(put_bare(c, RECENT_LEAVES, true), last);
    assert_int_equal(put_bare(c, 1, true).seq, first.seq + 1);
    assert_true(put_number(c, 0, true).seq > last.seq);
    store_close(c);
    stop(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_again_is_there_once),
        cmocka_unit_test(only_the_latest_are_known),
    };

    if (argc < 2)
        return 2;
    fixture_program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
