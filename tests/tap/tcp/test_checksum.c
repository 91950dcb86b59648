/*
 * test_checksum.c - what hosts drop is not taken, and what a capture shows of
 * checksums that were never sent is.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "play.h"

static struct play play;

static int setup(void **state)
{
    struct stream_config c = play_config();

    play_open(&play, &c);
    *state = &play;
    return 0;
}

static int teardown(void **state)
{
    play_close(*state);
    return 0;
}

/* Bytes of the server at an offset; all of the request is acknowledged. */
static void say(struct play *p, enum checksum c, uint32_t at, const char *text)
{
    p->checksum = c;
    play_data(p, SIDE_SERVER, at, 3, text);
}

/* A handshake and a request, with the checksums of each side. */
static void ask(struct play *p, enum checksum client, enum checksum server)
{
    p->mss = 1000;
    p->checksum = client;
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    p->checksum = server;
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    p->checksum = client;
    play_data(p, SIDE_CLIENT, 0, 0, "ask");
}

static void confirm(struct play *p, enum checksum c, uint32_t at)
{
    p->checksum = c;
    play_data(p, SIDE_CLIENT, 3, at, "");
}

static uint64_t conflicts(const struct play *p)
{
    return p->rec.streams[0]->side[SIDE_SERVER].conflict_bytes;
}

static void drops_a_wrong_one_and_takes_what_comes_in_its_place(void **state)
{
    static char padding[1001];
    struct play *p = *state;

    memset(padding, '.', sizeof(padding) - 1);
    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_WRONG, 0, "lie"); /* the first bytes of all */
    say(p, CHECKSUM_VALID, 0, "one ");
    say(p, CHECKSUM_WRONG, 4, "lie");
    for (uint32_t at = 0; at < 300; at++)
        say(p, CHECKSUM_VALID, 7 + at * 1000, padding);
    confirm(p, CHECKSUM_VALID, 4); /* the receiver waits for them, too */
    say(p, CHECKSUM_VALID, 4, "two");
    assert_int_equal(play_count(p)->bad_checksums, 2);
    assert_int_equal(play_count(p)->refused_checksum, 6);
    assert_int_equal(conflicts(p), 0);
    assert_memory_equal(p->rec.streams[0]->side[SIDE_SERVER].bytes,
                        "one two...", 10);
    assert_int_equal(play_count(p)->gaps, 0);
}

static void takes_partial_ones_where_they_are_sent(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_PARTIAL);
    say(p, CHECKSUM_PARTIAL, 0, "one ");
    say(p, CHECKSUM_PARTIAL, 4, "two ");
    say(p, CHECKSUM_WRONG, 8, "lie");
    say(p, CHECKSUM_PARTIAL, 8, "three");
    assert_bytes(p, 0, SIDE_SERVER, "one two three");
    assert_int_equal(conflicts(p), 0);
    assert_int_equal(play_count(p)->bad_checksums, 1);
}

/* Older systems fill in those of segments without bytes. */
static void takes_partial_bytes_after_a_valid_handshake(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    confirm(p, CHECKSUM_VALID, 0);
    say(p, CHECKSUM_PARTIAL, 0, "one ");
    say(p, CHECKSUM_VALID, 4, "");
    say(p, CHECKSUM_PARTIAL, 4, "two");
    assert_bytes(p, 0, SIDE_SERVER, "one two");
    assert_int_equal(conflicts(p), 0);
}

static void takes_all_of_a_file_with_changed_addresses(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_WRONG, CHECKSUM_WRONG);
    say(p, CHECKSUM_WRONG, 0, "one ");
    confirm(p, CHECKSUM_WRONG, 4);
    say(p, CHECKSUM_WRONG, 4, "two");
    assert_bytes(p, 0, SIDE_CLIENT, "ask");
    assert_bytes(p, 0, SIDE_SERVER, "one two");
    assert_int_equal(conflicts(p), 0);
    assert_int_equal(play_count(p)->bad_checksums, 0);
}

static void takes_a_lone_partial_one_in_doubt(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one ");
    say(p, CHECKSUM_PARTIAL, 4, "two");
    assert_bytes(p, 0, SIDE_SERVER, "one two");
    assert_int_equal(conflicts(p), 3);
    assert_int_equal(p->rec.streams[0]->side[SIDE_SERVER].conflict_at, 4);
}

static void takes_joined_ones_as_they_are(void **state)
{
    static char joined[1002];
    struct play *p = *state;

    memset(joined, 'x', sizeof(joined) - 1); /* one more than the MSS */
    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_PARTIAL, 0, joined);
    say(p, CHECKSUM_VALID, 1001, "one ");
    say(p, CHECKSUM_VALID, 1005, "two ");
    say(p, CHECKSUM_PARTIAL, 1009, joined);
    assert_int_equal(conflicts(p), 0);
    assert_int_equal(play_count(p)->delivered_bytes, 3 + 2 * 1001 + 8);
    joined[1000] = '\0';
    say(p, CHECKSUM_PARTIAL, 2010, joined); /* not longer: it may be one */
    assert_int_equal(conflicts(p), 1000);
}

/* What comes in where the other side's is sent was joined there. */
static void takes_what_an_end_of_the_connection_has_joined(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_PARTIAL, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one ");
    say(p, CHECKSUM_PARTIAL, 4, "two ");
    say(p, CHECKSUM_VALID, 8, "three");
    assert_bytes(p, 0, SIDE_SERVER, "one two three");
    assert_int_equal(conflicts(p), 0);
}

/* The first bytes were joined; but they are from outside. */
static void an_end_of_the_connection_is_sure_of_what_it_joined(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_PARTIAL, CHECKSUM_VALID);
    say(p, CHECKSUM_PARTIAL, 0, "one ");
    say(p, CHECKSUM_VALID, 4, "two ");
    say(p, CHECKSUM_VALID, 8, "three");
    assert_bytes(p, 0, SIDE_SERVER, "one two three");
    assert_int_equal(conflicts(p), 0);
}

/* Partial ones at first, as if captured where they are sent; but valid ones
 * bring what the receiver acknowledges. */
static void valid_ones_put_in_doubt_what_was_taken_before(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_PARTIAL);
    say(p, CHECKSUM_PARTIAL, 0, "lie");
    say(p, CHECKSUM_VALID, 3, "one ");
    assert_int_equal(play_count(p)->conflict_bytes, 0);
    say(p, CHECKSUM_VALID, 7, "two");
    assert_int_equal(conflicts(p), 7);
    assert_int_equal(p->rec.streams[0]->side[SIDE_SERVER].conflict_at, 0);
    say(p, CHECKSUM_VALID, 0, "one"); /* and this one differs */
    assert_int_equal(play_count(p)->conflicts, 2);
}

/* Captured at two places of one machine, say: each segment twice. */
static void copies_of_another_place_put_nothing_in_doubt(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_PARTIAL);
    for (uint32_t at = 0; at < 40; at += 4) {
        say(p, CHECKSUM_PARTIAL, at, "abcd");
        say(p, CHECKSUM_VALID, at, "abcd");
    }
    assert_int_equal(conflicts(p), 0);
    assert_int_equal(play_count(p)->retransmitted_bytes, 40);
}

/* The same, but of one segment the valid copy comes when the other is long
 * forgotten. */
static void a_copy_that_nothing_is_left_of_is_in_doubt(void **state)
{
    static char padding[1001];
    struct play *p = *state;
    uint32_t at = 3;

    memset(padding, '.', sizeof(padding) - 1);
    ask(p, CHECKSUM_VALID, CHECKSUM_PARTIAL);
    say(p, CHECKSUM_PARTIAL, 0, "lie");
    for (int i = 0; i < 20000; i++, at += 1000) {
        say(p, CHECKSUM_PARTIAL, at, padding);
        say(p, CHECKSUM_VALID, at, padding);
    }
    assert_int_equal(conflicts(p), 0);
    say(p, CHECKSUM_VALID, 0, "one");
    assert_int_equal(conflicts(p), 3);
}

static void wrong_flags_and_acknowledgements_are_not_believed(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one ");
    p->checksum = CHECKSUM_WRONG;
    play_text(p, SIDE_SERVER, TCP_RST, play_at(SERVER_ISN + 5, 0), "");
    play_text(p, SIDE_SERVER, TCP_FIN | TCP_ACK,
              play_at(SERVER_ISN + 5, CLIENT_ISN + 4), "");
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(77777, 0), "");
    confirm(p, CHECKSUM_WRONG, 1000); /* or there would be a gap */
    play_wait(p, 60000);
    say(p, CHECKSUM_VALID, 4, "two");
    confirm(p, CHECKSUM_VALID, 7);
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_SERVER, "one two");
    assert_false(p->rec.streams[0]->ended);
    assert_int_equal(play_count(p)->bad_checksums, 4);
    assert_int_equal(play_count(p)->gaps, 0);
}

/* Its ports are used again, by somebody whose checksums look otherwise. */
static void a_new_connection_is_learnt_anew(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one");
    play_text(p, SIDE_SERVER, TCP_RST, play_at(SERVER_ISN + 4, 0), "");
    play_wait(p, 60000);
    ask(p, CHECKSUM_WRONG, CHECKSUM_WRONG);
    say(p, CHECKSUM_WRONG, 0, "two");
    assert_int_equal(p->rec.n, 2);
    assert_bytes(p, 1, SIDE_SERVER, "two");
}

static void a_new_connection_after_a_reset_is_learnt_anew(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one");
    play_text(p, SIDE_SERVER, TCP_RST, play_at(SERVER_ISN + 4, 0), "");
    p->checksum = CHECKSUM_WRONG;
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(77777, 0), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(77778, SERVER_ISN + 1), "ask");
    assert_int_equal(p->rec.n, 2);
    assert_bytes(p, 1, SIDE_CLIENT, "ask");
}

/* Nobody can say what its reader got. */
static void urgent_bytes_are_in_doubt(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one ");
    p->urgent = 1;
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_URG,
              play_at(SERVER_ISN + 5, CLIENT_ISN + 4), "t");
    assert_bytes(p, 0, SIDE_SERVER, "one t");
    assert_int_equal(p->rec.streams[0]->side[SIDE_SERVER].conflict_at, 4);
    assert_int_equal(play_count(p)->urgent, 1);
}

static void urgent_bytes_to_come_are_in_doubt(void **state)
{
    struct play *p = *state;

    ask(p, CHECKSUM_VALID, CHECKSUM_VALID);
    say(p, CHECKSUM_VALID, 0, "one ");
    p->urgent = 3;
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_URG,
              play_at(SERVER_ISN + 5, CLIENT_ISN + 4), "");
    assert_int_equal(p->rec.streams[0]->side[SIDE_SERVER].conflict_at, 6);
    say(p, CHECKSUM_VALID, 4, "two");
    assert_bytes(p, 0, SIDE_SERVER, "one two");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(drops_a_wrong_one_and_takes_what_comes_in_its_place),
        TEST(takes_partial_ones_where_they_are_sent),
        TEST(takes_partial_bytes_after_a_valid_handshake),
        TEST(takes_all_of_a_file_with_changed_addresses),
        TEST(takes_a_lone_partial_one_in_doubt),
        TEST(takes_joined_ones_as_they_are),
        TEST(takes_what_an_end_of_the_connection_has_joined),
        TEST(an_end_of_the_connection_is_sure_of_what_it_joined),
        TEST(valid_ones_put_in_doubt_what_was_taken_before),
        TEST(copies_of_another_place_put_nothing_in_doubt),
        TEST(a_copy_that_nothing_is_left_of_is_in_doubt),
        TEST(wrong_flags_and_acknowledgements_are_not_believed),
        TEST(a_new_connection_is_learnt_anew),
        TEST(a_new_connection_after_a_reset_is_learnt_anew),
        TEST(urgent_bytes_are_in_doubt),
        TEST(urgent_bytes_to_come_are_in_doubt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
