/*
 * test_stream.c - the bytes of a connection: order, overlap, loss, ends.
 * What an attacker or a flood does stands in test_stream_attack.c.
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

static int set_up(void **state)
{
    struct stream_config c = play_config();

    play_open(&play, &c);
    *state = &play;
    return 0;
}

static int tear_down(void **state)
{
    play_close(*state);
    return 0;
}

static struct recorded *stream(const struct play *p, size_t i)
{
    assert_true(i < p->rec.n);
    return p->rec.streams[i];
}

static void delivers_both_sides_in_order(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "GET ");
    play_data(p, SIDE_CLIENT, 4, 0, "/");
    play_data(p, SIDE_SERVER, 0, 5, "200");
    assert_bytes(p, 0, SIDE_CLIENT, "GET /");
    assert_bytes(p, 0, SIDE_SERVER, "200");
    assert_string_equal(stream(p, 0)->info.addr[SIDE_CLIENT], "10.0.0.2:40000");
    assert_string_equal(stream(p, 0)->info.addr[SIDE_SERVER], "10.0.0.1:80");
    assert_true(stream(p, 0)->info.client_known);
    assert_true(stream(p, 0)->info.start_seen[SIDE_CLIENT]);
    assert_true(stream(p, 0)->info.start_seen[SIDE_SERVER]);
}

static void tells_each_piece_with_the_time_of_its_segment(void **state)
{
    struct play *p = *state;
    int64_t early_ns;

    play_handshake(p);
    early_ns = p->now_ns;
    play_data(p, SIDE_CLIENT, 3, 0, "def"); /* waits for the others */
    play_wait(p, 100);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    assert_bytes(p, 0, SIDE_CLIENT, "abcdef");
    assert_true(stream(p, 0)->side[SIDE_CLIENT].last_ns == early_ns);
    assert_int_equal(play_count(p)->out_of_order, 1);
}

static void counts_a_retransmission_and_does_not_deliver_it(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abcdef");
    play_data(p, SIDE_CLIENT, 2, 0, "cd");
    play_data(p, SIDE_CLIENT, 4, 0, "efgh"); /* half of it new */
    assert_bytes(p, 0, SIDE_CLIENT, "abcdefgh");
    assert_int_equal(play_count(p)->retransmitted_bytes, 4);
    assert_int_equal(play_count(p)->conflicts, 0);
    assert_int_equal(play_count(p)->unchecked_bytes, 0);
}

static void
a_different_copy_is_a_conflict_before_and_after_its_ack(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "GET /good");
    play_data(p, SIDE_CLIENT, 0, 0, "GET /evil");
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflicts, 1);
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflict_at, 5);
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflict_bytes, 4);
    play_data(p, SIDE_SERVER, 0, 9, "200");
    play_data(p, SIDE_CLIENT, 3, 0, "_");
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflicts, 2);
    assert_bytes(p, 0, SIDE_CLIENT, "GET /good");
}

static void a_keep_alive_probe_is_no_conflict(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_data(p, SIDE_SERVER, 0, 3, "");
    play_data(p, SIDE_CLIENT, 2, 0, "?");
    assert_int_equal(play_count(p)->conflicts, 0);
    assert_int_equal(play_count(p)->retransmitted_bytes, 1);
}

static void acknowledged_bytes_are_waited_for_and_then_a_gap(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_data(p, SIDE_SERVER, 0, 6, "");
    play_wait(p, 400);
    assert_int_equal(play_count(p)->gaps, 0);
    play_data(p, SIDE_CLIENT, 6, 0, "ghi");
    play_wait(p, 200);
    assert_int_equal(play_count(p)->gaps, 1);
    assert_int_equal(play_count(p)->gap_bytes, 3);
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].last_cause, GAP_ACKED);
    assert_bytes(p, 0, SIDE_CLIENT, "abcghi");
}

/* zeek#335: the acknowledgement was captured before its bytes. */
static void bytes_captured_after_their_ack_are_not_lost(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 3, "");
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_wait(p, 10000);
    assert_bytes(p, 0, SIDE_CLIENT, "abc");
    assert_int_equal(play_count(p)->gaps, 0);
}

static void
an_answer_is_told_after_its_request_even_if_captured_before(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "GE");
    play_data(p, SIDE_SERVER, 0, 3, "200");
    assert_int_equal(stream(p, 0)->side[SIDE_SERVER].n, 0);
    play_data(p, SIDE_CLIENT, 2, 0, "T");
    assert_bytes(p, 0, SIDE_CLIENT, "GET");
    assert_bytes(p, 0, SIDE_SERVER, "200");
}

static void an_answer_is_told_after_the_gap_in_its_request(void **state)
{
    struct play *p = *state;
    const struct recorded *s;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 3, "200");
    play_wait(p, 600);
    s = stream(p, 0);
    assert_int_equal(s->side[SIDE_CLIENT].gap_bytes, 3);
    assert_bytes(p, 0, SIDE_SERVER, "200");
    assert_int_equal(s->order[SIDE_SERVER], 2); /* the gap was first */
}

static void an_unacknowledged_hole_waits_for_its_retransmission(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 3, 0, "def");
    for (int i = 0; i < 60; i++) { /* the peer lives and does not have it */
        play_wait(p, 1000);
        play_data(p, SIDE_SERVER, 0, 0, "");
    }
    assert_int_equal(play_count(p)->gaps, 0);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    assert_bytes(p, 0, SIDE_CLIENT, "abcdef");
}

/* Its acknowledgements are few, or were lost; a minute of silence is more. */
static void
a_silent_peer_is_waited_for_as_long_as_it_is_sent_again(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 3, 0, "def");
    play_wait(p, 20000);
    play_data(p, SIDE_CLIENT, 9, 0, "jkl");
    play_wait(p, 20000);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    assert_int_equal(play_count(p)->gaps, 0);
    play_wait(p, 25000);
    assert_int_equal(play_count(p)->gap_bytes, 3);
    assert_bytes(p, 0, SIDE_CLIENT, "abcdefjkl");
}

static void a_hole_in_a_one_sided_capture_ends_by_time(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_data(p, SIDE_CLIENT, 6, 0, "ghi");
    play_wait(p, 1900);
    assert_bytes(p, 0, SIDE_CLIENT, "abc");
    play_wait(p, 200);
    assert_bytes(p, 0, SIDE_CLIENT, "abcghi");
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].last_cause, GAP_TIMEOUT);
}

static void one_direction_alone_flows_and_finishes(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    play_data(p, SIDE_SERVER, 0, 18, "HTTP/1.1 200 OK");
    assert_bytes(p, 0, SIDE_SERVER, "HTTP/1.1 200 OK");
    play_text(p, SIDE_SERVER, TCP_FIN | TCP_ACK,
              play_at(SERVER_ISN + 16, CLIENT_ISN + 19), "");
    play_wait(p, 6000);
    assert_true(stream(p, 0)->ended);
    assert_int_equal(stream(p, 0)->why, END_CLOSED);
    assert_true(stream(p, 0)->side[SIDE_SERVER].closed);
    /* What the other side sent is known to have existed. */
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].gap_bytes, 18);
}

static void begins_in_mid_stream(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_SERVER, TCP_ACK, play_at(77777, 33333), "half an answer");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(33333, 77791), "next");
    assert_bytes(p, 0, SIDE_SERVER, "half an answer");
    play_text(p, SIDE_SERVER, TCP_ACK, play_at(77791, 33337), "");
    assert_bytes(p, 0, SIDE_CLIENT, "next");
    assert_false(stream(p, 0)->info.client_known);
    assert_false(stream(p, 0)->info.start_seen[SIDE_SERVER]);
    /* The lower port is the server. */
    assert_string_equal(stream(p, 0)->info.addr[SIDE_SERVER], "10.0.0.1:80");
}

static void bytes_before_the_first_ones_seen_move_the_start(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(33340, 1), "second");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(33335, 1), "first");
    play_wait(p, 1000);
    assert_bytes(p, 0, SIDE_CLIENT, "firstsecond");
    assert_int_equal(play_count(p)->gaps, 0);
}

static void a_syn_may_carry_bytes(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "fast");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 5), "");
    play_data(p, SIDE_CLIENT, 4, 0, " open");
    assert_bytes(p, 0, SIDE_CLIENT, "fast open");
    assert_true(stream(p, 0)->info.start_seen[SIDE_CLIENT]);
}

static void a_handshake_may_be_captured_in_any_order(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_data(p, SIDE_SERVER, 0, 3, "x");
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_CLIENT, "abc");
    assert_bytes(p, 0, SIDE_SERVER, "x");
    assert_string_equal(stream(p, 0)->info.addr[SIDE_CLIENT], "10.0.0.2:40000");
}

static void of_several_syn_acks_the_acknowledged_one_holds(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK, play_at(99, CLIENT_ISN + 1),
              "");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(CLIENT_ISN + 1, SERVER_ISN + 1),
              "");
    play_data(p, SIDE_SERVER, 0, 0, "hello");
    play_data(p, SIDE_CLIENT, 0, 5, "hi");
    assert_bytes(p, 0, SIDE_SERVER, "hello");
    assert_bytes(p, 0, SIDE_CLIENT, "hi");
    assert_int_equal(play_count(p)->gaps, 0);
}

static void closes_after_both_fins_with_all_bytes(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_text(p, SIDE_CLIENT, TCP_ACK | TCP_FIN,
              play_at(CLIENT_ISN + 1, SERVER_ISN + 1), "bye");
    assert_false(stream(p, 0)->side[SIDE_CLIENT].closed);
    play_data(p, SIDE_SERVER, 0, 4, "still here");
    assert_true(stream(p, 0)->side[SIDE_CLIENT].closed);
    assert_false(stream(p, 0)->ended);
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_FIN,
              play_at(SERVER_ISN + 11, CLIENT_ISN + 5), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(CLIENT_ISN + 5, SERVER_ISN + 12),
              "");
    assert_true(stream(p, 0)->ended);
    assert_int_equal(stream(p, 0)->why, END_CLOSED);
    assert_bytes(p, 0, SIDE_SERVER, "still here");
}

static void a_fin_waits_for_the_bytes_before_it(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_text(p, SIDE_CLIENT, TCP_ACK | TCP_FIN,
              play_at(CLIENT_ISN + 7, SERVER_ISN + 1), "");
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_FIN,
              play_at(SERVER_ISN + 1, CLIENT_ISN + 1), "");
    assert_int_equal(p->rec.n, 0);
    play_data(p, SIDE_CLIENT, 0, 1, "abcdef");
    assert_bytes(p, 0, SIDE_CLIENT, "abcdef");
    assert_true(stream(p, 0)->ended);
    assert_int_equal(play_count(p)->gaps, 0);
}

static void a_fin_that_was_not_captured_is_no_gap(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "all");
    play_data(p, SIDE_CLIENT, 0, 4, ""); /* 3 bytes and a FIN */
    play_wait(p, 5000);
    assert_int_equal(play_count(p)->gaps, 0);
    play_data(p, SIDE_CLIENT, 0, 4, "more");
    assert_bytes(p, 0, SIDE_CLIENT, "more");
}

static void bytes_that_acknowledge_a_lost_fin_are_not_held_back(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "all");
    play_data(p, SIDE_CLIENT, 0, 4, "more");
    play_wait(p, 600);
    assert_bytes(p, 0, SIDE_CLIENT, "more");
    assert_int_equal(play_count(p)->held_bytes, 0);
    assert_int_equal(play_count(p)->gaps, 0);
}

static void bytes_that_acknowledge_a_late_fin_come_with_it(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "all");
    play_data(p, SIDE_CLIENT, 0, 4, "more");
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].n, 0);
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_FIN,
              play_at(SERVER_ISN + 4, CLIENT_ISN + 1), "");
    assert_bytes(p, 0, SIDE_CLIENT, "more");
    assert_true(stream(p, 0)->side[SIDE_SERVER].closed);
}

static void bytes_behind_a_supposed_fin_make_it_a_gap(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "all");
    play_data(p, SIDE_CLIENT, 0, 4, "");
    play_wait(p, 5000);
    play_data(p, SIDE_SERVER, 4, 0, "of it");
    play_data(p, SIDE_CLIENT, 0, 9, "");
    play_wait(p, 5000);
    assert_int_equal(play_count(p)->gap_bytes, 1);
    assert_bytes(p, 0, SIDE_SERVER, "allof it");
}

static void late_packets_of_a_closed_connection_open_no_other(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_text(p, SIDE_CLIENT, TCP_ACK | TCP_FIN,
              play_at(CLIENT_ISN + 1, SERVER_ISN + 1), "bye");
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_FIN,
              play_at(SERVER_ISN + 1, CLIENT_ISN + 5), "");
    assert_true(stream(p, 0)->ended);
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(CLIENT_ISN + 5, SERVER_ISN + 2),
              "");
    play_data(p, SIDE_CLIENT, 0, 0, "bye");
    play_data(p, SIDE_SERVER, 0, 4, "beyond");
    assert_int_equal(p->rec.n, 1);
    assert_int_equal(play_count(p)->opened, 1);
    assert_int_equal(play_count(p)->retransmitted_bytes, 3);
    assert_int_equal(play_count(p)->refused_closed, 6);
}

/* A sender whose acknowledgements get lost repeats itself for a while. */
static void late_packets_keep_a_closed_connection_in_mind(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_text(p, SIDE_CLIENT, TCP_ACK | TCP_FIN,
              play_at(CLIENT_ISN + 1, SERVER_ISN + 1), "bye");
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_FIN,
              play_at(SERVER_ISN + 1, CLIENT_ISN + 5), "");
    play_wait(p, 50000);
    play_data(p, SIDE_CLIENT, 0, 0, "bye");
    play_data(p, SIDE_CLIENT, 0, 0, "hey");
    assert_int_equal(play_count(p)->opened, 1);
    assert_int_equal(play_count(p)->late_conflict_bytes, 3);
    play_wait(p, 10000);
    play_data(p, SIDE_CLIENT, 0, 0, "bye");
    assert_int_equal(play_count(p)->opened, 2);
}

static void a_new_syn_after_the_end_is_a_new_connection(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "one");
    play_text(p, SIDE_SERVER, TCP_RST | TCP_ACK,
              play_at(SERVER_ISN + 1, CLIENT_ISN + 4), "");
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(900000, 0), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(900001, 1), "two");
    assert_int_equal(p->rec.n, 2);
    assert_int_equal(stream(p, 0)->why, END_RESET);
    assert_int_equal(stream(p, 0)->by, SIDE_SERVER);
    assert_bytes(p, 0, SIDE_CLIENT, "one");
    assert_bytes(p, 1, SIDE_CLIENT, "two");
}

static void what_the_capture_cut_off_is_a_gap_of_that_cause(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    p->cut = 100;
    play_data(p, SIDE_CLIENT, 0, 0, "begin");
    play_data(p, SIDE_CLIENT, 105, 0, "end");
    assert_bytes(p, 0, SIDE_CLIENT, "beginend");
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].last_cause, GAP_SNAPLEN);
    assert_int_equal(play_count(p)->gap_snaplen_bytes, 100);
}

static void silence_ends_a_connection(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    for (int i = 0; i < 29; i++)
        play_wait(p, 60000); /* a step counts as a minute at most */
    assert_false(stream(p, 0)->ended);
    for (int i = 0; i < 31; i++)
        play_wait(p, 60000);
    assert_true(stream(p, 0)->ended);
    assert_int_equal(stream(p, 0)->why, END_IDLE);
}

static void an_unused_connection_outlives_the_half_open_ones(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    p->port++;
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_wait(p, 30000);
    assert_int_equal(play_count(p)->closed, 1);
    p->port--;
    play_data(p, SIDE_CLIENT, 0, 0, "late");
    assert_bytes(p, 0, SIDE_CLIENT, "late");
    assert_true(stream(p, 0)->info.start_seen[SIDE_CLIENT]);
}

static void equal_addresses_on_two_vlans_are_two_connections(void **state)
{
    struct play *p = *state;

    for (p->tag = 10; p->tag <= 20; p->tag += 10)
        play_handshake(p);
    p->tag = 10;
    play_data(p, SIDE_CLIENT, 0, 0, "ten");
    p->tag = 20;
    play_data(p, SIDE_CLIENT, 0, 0, "twenty");
    assert_bytes(p, 0, SIDE_CLIENT, "ten");
    assert_bytes(p, 1, SIDE_CLIENT, "twenty");
    assert_int_equal(play_count(p)->conflicts, 0);
}

static void a_mirror_may_tag_each_direction_differently(void **state)
{
    struct play *p = *state;

    p->tag = 10;
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    p->tag = 20;
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    p->tag = 10;
    play_data(p, SIDE_CLIENT, 0, 0, "ping");
    p->tag = 20;
    play_data(p, SIDE_SERVER, 0, 4, "pong");
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_CLIENT, "ping");
    assert_bytes(p, 0, SIDE_SERVER, "pong");
}

static void one_wild_stamp_ends_no_connection(void **state)
{
    struct play *p = *state;
    int64_t now_ns = p->now_ns;

    play_handshake(p);
    p->now_ns = INT64_MAX - 1000000;
    play_data(p, SIDE_CLIENT, 0, 0, "a");
    p->now_ns = now_ns + 1000000;
    play_data(p, SIDE_CLIENT, 1, 0, "b");
    p->now_ns = INT64_MIN + 1000000;
    play_data(p, SIDE_CLIENT, 2, 0, "c");
    p->now_ns = now_ns + 2000000;
    play_data(p, SIDE_CLIENT, 3, 0, "d");
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_CLIENT, "abcd");
    assert_true(play_count(p)->time_steps >= 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(delivers_both_sides_in_order),
        TEST(tells_each_piece_with_the_time_of_its_segment),
        TEST(counts_a_retransmission_and_does_not_deliver_it),
        TEST(a_different_copy_is_a_conflict_before_and_after_its_ack),
        TEST(a_keep_alive_probe_is_no_conflict),
        TEST(acknowledged_bytes_are_waited_for_and_then_a_gap),
        TEST(bytes_captured_after_their_ack_are_not_lost),
        TEST(an_answer_is_told_after_its_request_even_if_captured_before),
        TEST(an_answer_is_told_after_the_gap_in_its_request),
        TEST(an_unacknowledged_hole_waits_for_its_retransmission),
        TEST(a_silent_peer_is_waited_for_as_long_as_it_is_sent_again),
        TEST(a_hole_in_a_one_sided_capture_ends_by_time),
        TEST(one_direction_alone_flows_and_finishes),
        TEST(begins_in_mid_stream),
        TEST(bytes_before_the_first_ones_seen_move_the_start),
        TEST(a_syn_may_carry_bytes),
        TEST(a_handshake_may_be_captured_in_any_order),
        TEST(of_several_syn_acks_the_acknowledged_one_holds),
        TEST(closes_after_both_fins_with_all_bytes),
        TEST(a_fin_waits_for_the_bytes_before_it),
        TEST(a_fin_that_was_not_captured_is_no_gap),
        TEST(bytes_that_acknowledge_a_lost_fin_are_not_held_back),
        TEST(bytes_that_acknowledge_a_late_fin_come_with_it),
        TEST(bytes_behind_a_supposed_fin_make_it_a_gap),
        TEST(late_packets_of_a_closed_connection_open_no_other),
        TEST(late_packets_keep_a_closed_connection_in_mind),
        TEST(a_new_syn_after_the_end_is_a_new_connection),
        TEST(what_the_capture_cut_off_is_a_gap_of_that_cause),
        TEST(silence_ends_a_connection),
        TEST(an_unused_connection_outlives_the_half_open_ones),
        TEST(equal_addresses_on_two_vlans_are_two_connections),
        TEST(a_mirror_may_tag_each_direction_differently),
        TEST(one_wild_stamp_ends_no_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
