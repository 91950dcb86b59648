/*
 * test_precedence.c - the store lets an epoch go one way, once: closed, signed,
 * revealed, seeded, drawn, certified.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

#include "daemon_fixture.h"
#include "epoch_records.h"
#include "tables.h"

static void sign(struct store_client *c)
{
    char note[2048];

    assert_int_equal(store_checkpoint(c, note, sizeof(note)), 0);
}

static long long rows(const struct daemon_run *d, const char *sql)
{
    return tables_query(index_of(d).text, sql);
}

static void an_epoch_goes_one_way(void **state)
{
    struct store_client *c;
    struct daemon_run d;

    (void)state;
    start(&d, "checkpoint_s = 86400");
    c = connect_as(&d, "sampler");
    assert_int_equal(put_reveal(c, 1, "auditor"), -EPERM);
    assert_int_equal(put_seed(c, 1), -EPERM);
    assert_int_equal(put_draw_part(c, 1, 1), -EPERM);
    assert_int_equal(put_close(c, 2), -EPERM);
    assert_int_equal(put_close(c, 0), -EPERM);
    assert_int_equal(put_close(c, 1), 0);
    /* Closed, but not signed: what makes the seed must not be known yet. */
    assert_int_equal(put_reveal(c, 1, "auditor"), -EPERM);
    assert_int_equal(put_seed(c, 1), -EPERM);
    sign(c);
    assert_int_equal(put_reveal(c, 1, "auditor"), 0);
    assert_int_equal(put_draw_part(c, 1, 1), -EPERM);
    assert_int_equal(put_seed(c, 1), 0);
    assert_int_equal(put_certificate(c, 1), -EPERM);
    assert_int_equal(put_draw_part(c, 1, 1), 0);
    assert_int_equal(put_certificate(c, 1), 0);
    assert_int_equal(put_close(c, 2), 0);
    assert_int_equal(put_seed(c, 2), -EPERM); /* signed is the first only */
    store_close(c);
    stop(&d);
}

static void no_second_record_takes_the_place_of_a_first(void **state)
{
    struct store_client *c;
    struct daemon_run d;

    (void)state;
    start(&d, "checkpoint_s = 86400");
    c = connect_as(&d, "sampler");
    assert_int_equal(put_close(c, 1), 0);
    sign(c);
    assert_int_equal(put_close(c, 1), -EEXIST);
    assert_int_equal(put_reveal(c, 1, "auditor"), 0);
    assert_int_equal(put_reveal(c, 1, "provider two"), 0);
    assert_int_equal(put_reveal(c, 1, "provider two"), -EEXIST);
    assert_int_equal(put_seed(c, 1), 0);
    assert_int_equal(put_seed(c, 1), -EEXIST);
    assert_int_equal(put_draw_part(c, 1, 1), 0);
    assert_int_equal(put_draw_part(c, 1, 2), 0);
    assert_int_equal(put_draw_part(c, 1, 1), -EEXIST);
    assert_int_equal(put_certificate(c, 1), 0);
    assert_int_equal(put_certificate(c, 1), -EEXIST);
    assert_int_equal(rows(&d, "SELECT count(*) FROM reveal"), 2);
    assert_int_equal(rows(&d, "SELECT count(*) FROM draw"), 2);
    assert_int_equal(rows(&d, "SELECT count(*) FROM certificate"), 1);
    store_close(c);
    stop(&d);
}

static void a_unit_has_one_verdict_and_only_if_drawn(void **state)
{
    static const uint8_t drawn[32] = {1}, other[32] = {2};
    struct store_client *c, *compare;
    struct daemon_run d;

    (void)state;
    start(&d, "checkpoint_s = 86400");
    c = connect_as(&d, "sampler");
    compare = connect_as(&d, "compare");
    assert_int_equal(put_close(c, 1), 0);
    sign(c);
    assert_int_equal(put_seed(c, 1), 0);
    assert_int_equal(put_verdict(compare, 1, drawn), -EPERM);
    assert_int_equal(put_draw_of(c, 1, 1, drawn), 0);
    assert_int_equal(put_verdict(compare, 1, other), -EPERM);
    assert_int_equal(put_verdict(compare, 2, drawn), -EPERM);
    assert_int_equal(put_verdict(compare, 1, drawn), 0);
    assert_int_equal(put_verdict(compare, 1, drawn), -EEXIST);
    assert_int_equal(rows(&d, "SELECT count(*) FROM verdict"), 1);
    store_close(c);
    store_close(compare);
    stop(&d);
}

/* Both are on their way before either is answered, in one batch. */
static void two_closes_at_once_are_one(void **state)
{
    struct store_client *a, *b;
    struct daemon_run d;
    struct put_ack ack;

    (void)state;
    start(&d, "");
    a = connect_as(&d, "sampler");
    b = connect_as(&d, "sampler");
    assert_int_equal(send_close(a, 1), 0);
    assert_int_equal(send_close(a, 1), 0);
    assert_int_equal(send_close(b, 1), 0);
    assert_int_equal(store_next_ack(a, WAIT_MS, &ack) +
                         store_next_ack(a, WAIT_MS, &ack) +
                         store_next_ack(b, WAIT_MS, &ack),
                     2 * -EEXIST);
    assert_int_equal(rows(&d, "SELECT count(*) FROM frame_close"), 1);
    store_close(a);
    store_close(b);
    stop(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_goes_one_way),
        cmocka_unit_test(no_second_record_takes_the_place_of_a_first),
        cmocka_unit_test(a_unit_has_one_verdict_and_only_if_drawn),
        cmocka_unit_test(two_closes_at_once_are_one),
    };

    if (argc < 2)
        return 2;
    fixture_program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
