/*
 * test_stream_attack.c - what a flood, an injector or a broken sender does to
 * the streams: overlaps of every shape, full pools, forged segments.
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

static const struct recorded *stream(const struct play *p, size_t i)
{
    assert_true(i < p->rec.n);
    return p->rec.streams[i];
}

/* What a direction must give: the first copy of each byte. */
struct model {
    uint8_t first[1 << 16];
    bool there[1 << 16];
    size_t differing; /* bytes of later copies that differ */
};

static void model_put(struct model *m, size_t at, struct span bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        if (!m->there[at + i]) {
            m->there[at + i] = true;
            m->first[at + i] = bytes.p[i];
        } else if (m->first[at + i] != bytes.p[i]) {
            m->differing++;
        }
    }
}

static void push_at(struct play *p, uint32_t isn, size_t at, struct span bytes)
{
    play_bytes(p, SIDE_CLIENT, TCP_ACK,
               play_at(isn + 1 + (uint32_t)at, SERVER_ISN + 1), bytes);
}

static void assert_model(const struct play *p, const struct model *m, size_t n)
{
    const struct recorded_side *d = &stream(p, 0)->side[SIDE_CLIENT];

    assert_int_equal(d->n, n);
    assert_memory_equal(d->bytes, m->first, n);
    assert_int_equal(d->gaps, 0);
    assert_int_equal(d->conflict_bytes, m->differing);
}

/* Two segments of any place and length within N bytes, then a third over all,
 * each with its own byte: with and without a hole before them. */
static void two_overlapping(const size_t cut[4], bool hole)
{
    enum { N = 7 };
    static const char *const fill[3] = {"AAAAAAA", "BBBBBBB", "CCCCCCC"};
    struct stream_config c = play_config();
    struct model m = {.differing = 0};
    struct play p;

    play_open(&p, &c);
    play_handshake(&p);
    for (size_t i = 0; i < 3; i++) {
        size_t from = i < 2 ? cut[2 * i] : 0, to = i < 2 ? cut[2 * i + 1] : N;
        struct span bytes = span_of(fill[i], to - from);

        push_at(&p, CLIENT_ISN, from + (hole ? 1 : 0), bytes);
        model_put(&m, from + (hole ? 1 : 0), bytes);
    }
    if (hole) {
        push_at(&p, CLIENT_ISN, 0, span_str("x"));
        model_put(&m, 0, span_str("x"));
    }
    assert_model(&p, &m, N + (hole ? 1 : 0));
    play_close(&p);
}

static void every_overlap_of_two_segments_keeps_the_first_copy(void **state)
{
    size_t cut[4], n = 0;

    (void)state;
    for (cut[0] = 0; cut[0] < 7; cut[0]++)
        for (cut[1] = cut[0] + 1; cut[1] <= 7; cut[1]++)
            for (cut[2] = 0; cut[2] < 7; cut[2]++)
                for (cut[3] = cut[2] + 1; cut[3] <= 7; cut[3]++, n++) {
                    two_overlapping(cut, false);
                    two_overlapping(cut, true);
                }
    assert_int_equal(n, 28 * 28);
}

static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % below;
}

/* Segments of any length and place around a front that moves on; some bytes
 * differ; the numbers wrap within the stream. */
static void random_stream(uint32_t seed)
{
    enum { TOTAL = 40000, REACH = 9000 };
    static struct model m;
    static uint8_t bytes[6000];
    struct stream_config c = play_config();
    const uint32_t isn = UINT32_MAX - 20000;
    struct play p;

    random_state = seed;
    memset(&m, 0, sizeof(m));
    c.history_bytes = 1 << 16; /* keep all, so that all can be compared */
    play_open(&p, &c);
    play_text(&p, SIDE_CLIENT, TCP_SYN, play_at(isn, 0), "");
    play_text(&p, SIDE_SERVER, TCP_SYN | TCP_ACK, play_at(SERVER_ISN, isn + 1),
              "");
    for (size_t front = 0; front < TOTAL;) {
        size_t at = front + draw(REACH), n = 1 + draw(draw(4) ? 300 : 6000);

        if (draw(3) == 0)
            at = front; /* the hole itself */
        at = at > 3000 ? at - draw(3000) : at;
        if (at >= TOTAL)
            continue;
        n = at + n > TOTAL ? TOTAL - at : n;
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)((at + i) * 31 + (draw(50) == 0));
        push_at(&p, isn, at, span_of(bytes, n));
        model_put(&m, at, span_of(bytes, n));
        while (front < TOTAL && m.there[front])
            front++;
    }
    assert_model(&p, &m, TOTAL);
    play_close(&p);
}

static void random_segments_give_the_first_copy_of_every_byte(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++)
        random_stream(seed);
}

static void a_flood_of_syns_pushes_out_no_connection_in_use(void **state)
{
    struct play *p = *state;

    for (uint16_t i = 0; i < 16; i++) {
        p->port = (uint16_t)(50000 + i);
        play_handshake(p);
        play_data(p, SIDE_CLIENT, 0, 0, "in use");
    }
    for (uint32_t i = 0; i < 100000; i++) {
        p->client = 0x0b000000 + i;
        play_text(p, SIDE_CLIENT, TCP_SYN, play_at(i, 0), "");
    }
    assert_int_equal(p->rec.n, 16); /* nothing is told of empty ones */
    assert_int_equal(play_count(p)->opened, 100016);
    assert_int_equal(play_count(p)->evicted, 100016 - 64);
    p->client = 0x0a000002;
    for (uint16_t i = 0; i < 16; i++) {
        p->port = (uint16_t)(50000 + i);
        play_data(p, SIDE_CLIENT, 6, 0, " still");
        assert_bytes(p, i, SIDE_CLIENT, "in use still");
    }
}

static void a_full_pool_ends_the_connection_silent_longest(void **state)
{
    struct play *p = *state;

    for (uint16_t i = 0; i < 64; i++) {
        p->port = (uint16_t)(50000 + i);
        play_handshake(p);
        play_data(p, SIDE_CLIENT, 0, 0, "x");
    }
    play_wait(p, 2000);
    p->port = 50000; /* the oldest, but no longer silent */
    play_data(p, SIDE_CLIENT, 1, 0, "y");
    p->port = 60000;
    play_handshake(p);
    assert_int_equal(play_count(p)->evicted, 1);
    assert_false(stream(p, 0)->ended);
    assert_true(stream(p, 1)->ended);
    assert_int_equal(stream(p, 1)->why, END_EVICTED);
}

/* Segments that never fit, backwards, on one connection: its share bounds
 * what is held, and every byte is delivered or accounted for in the end. */
static void a_flood_out_of_order_is_held_within_its_share(void **state)
{
    struct stream_config c = play_config();
    struct play p;

    (void)state;
    c.held_bytes = 1 << 16;
    play_open(&p, &c);
    play_handshake(&p);
    for (uint32_t i = 0; i < 100000; i++) {
        play_data(&p, SIDE_CLIENT, (100000 - i) * 10, 0, "flood");
        assert_true(play_count(&p)->held_bytes <= c.held_bytes);
    }
    assert_true(play_count(&p)->gap_pool_bytes > 0);
    p.port++; /* another connection goes on as ever */
    play_handshake(&p);
    play_data(&p, SIDE_CLIENT, 1, 0, "bc");
    play_data(&p, SIDE_CLIENT, 0, 0, "a");
    assert_bytes(&p, 1, SIDE_CLIENT, "abc");
    play_close(&p);
}

/* More connections with a hole than the pool has blocks. */
static void a_full_pool_of_blocks_ends_the_longest_wait(void **state)
{
    struct stream_config c = play_config();
    struct play p;

    (void)state;
    c.streams = 1024;
    c.blocks = 64;
    play_open(&p, &c);
    for (uint16_t i = 0; i < 1000; i++) {
        p.port = (uint16_t)(50000 + i);
        play_handshake(&p);
        play_data(&p, SIDE_CLIENT, 5, 0, "waits");
    }
    assert_int_equal(play_count(&p)->refused_pool, 0);
    assert_true(play_count(&p)->gap_pool_bytes >= (1000 - 64) * 5);
    assert_int_equal(stream(&p, 0)->side[SIDE_CLIENT].last_cause, GAP_POOL);
    assert_bytes(&p, 0, SIDE_CLIENT, "waits");
    play_data(&p, SIDE_CLIENT, 0, 0, "first"); /* the last can still be whole */
    assert_bytes(&p, p.rec.n - 1, SIDE_CLIENT, "firstwaits");
    play_close(&p);
}

static void an_unanswered_syn_changes_nothing(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "one");
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(777777, 0), "");
    play_data(p, SIDE_CLIENT, 3, 0, "two");
    play_data(p, SIDE_SERVER, 0, 6, "ok");
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_CLIENT, "onetwo");
    assert_bytes(p, 0, SIDE_SERVER, "ok");
}

static void an_answered_syn_replaces_the_connection(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "old");
    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(777777, 0), "");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK, play_at(888888, 777778), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(777778, 888889), "new");
    play_text(p, SIDE_SERVER, TCP_ACK, play_at(888889, 777781), "yes");
    assert_int_equal(p->rec.n, 2);
    assert_int_equal(stream(p, 0)->why, END_SUPERSEDED);
    assert_bytes(p, 0, SIDE_CLIENT, "old");
    assert_bytes(p, 1, SIDE_CLIENT, "new");
    assert_bytes(p, 1, SIDE_SERVER, "yes");
    assert_true(stream(p, 1)->info.start_seen[SIDE_CLIENT]);
    assert_true(stream(p, 1)->info.start_seen[SIDE_SERVER]);
}

static void a_reset_outside_the_window_is_refused(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_text(p, SIDE_SERVER, TCP_RST, play_at(SERVER_ISN + 1 + 1000000, 0),
              "");
    play_text(p, SIDE_CLIENT, TCP_RST, play_at(CLIENT_ISN - 70000, 0), "");
    play_wait(p, 10000);
    assert_false(stream(p, 0)->ended);
    assert_int_equal(play_count(p)->resets_refused, 2);
}

static void a_forged_reset_is_disproved_by_its_sender_going_on(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "to");
    play_text(p, SIDE_SERVER, TCP_RST, play_at(SERVER_ISN + 3, 0), "");
    play_data(p, SIDE_SERVER, 2, 0, "kens");
    play_wait(p, 10000);
    assert_false(stream(p, 0)->ended);
    assert_bytes(p, 0, SIDE_SERVER, "tokens");
    assert_int_equal(play_count(p)->resets_refused, 1);
}

static void a_true_reset_ends_both_sides_and_keeps_late_bytes(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "to");
    play_text(p, SIDE_CLIENT, TCP_RST, play_at(CLIENT_ISN + 1, 0), "");
    play_data(p, SIDE_SERVER, 2, 0, "kens"); /* was on its way */
    play_wait(p, 6000);
    assert_true(stream(p, 0)->ended);
    assert_int_equal(stream(p, 0)->why, END_RESET);
    assert_int_equal(stream(p, 0)->by, SIDE_CLIENT);
    assert_bytes(p, 0, SIDE_SERVER, "tokens");
}

static void the_text_within_a_reset_is_no_stream(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "abc");
    play_text(p, SIDE_SERVER, TCP_RST, play_at(SERVER_ISN + 4, 0),
              "no such port");
    play_wait(p, 6000);
    assert_bytes(p, 0, SIDE_SERVER, "abc");
    assert_int_equal(play_count(p)->refused_reset, 12);
}

static void a_forged_fin_is_disproved_by_more_bytes(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_SERVER, 0, 0, "to");
    play_text(p, SIDE_SERVER, TCP_FIN | TCP_ACK,
              play_at(SERVER_ISN + 3, CLIENT_ISN + 1), "");
    play_data(p, SIDE_SERVER, 2, 0, "kens");
    play_data(p, SIDE_CLIENT, 0, 6, "");
    assert_false(stream(p, 0)->side[SIDE_SERVER].closed);
    assert_bytes(p, 0, SIDE_SERVER, "tokens");
}

/* Both FINs were forged, or the SYNs of another connection lost. */
static void what_goes_on_after_the_end_is_a_connection(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_text(p, SIDE_CLIENT, TCP_ACK | TCP_FIN,
              play_at(CLIENT_ISN + 1, SERVER_ISN + 1), "bye");
    play_text(p, SIDE_SERVER, TCP_ACK | TCP_FIN,
              play_at(SERVER_ISN + 1, CLIENT_ISN + 5), "");
    play_wait(p, 10000);
    play_data(p, SIDE_SERVER, 0, 3, "hello");
    play_data(p, SIDE_CLIENT, 3, 5, "hi");
    assert_int_equal(p->rec.n, 2);
    assert_bytes(p, 1, SIDE_SERVER, "hello");
    assert_bytes(p, 1, SIDE_CLIENT, "hi");
}

static void a_forged_ack_makes_a_gap_and_never_other_bytes(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 6, "");
    play_wait(p, 600);
    play_data(p, SIDE_SERVER, 0, 0, "tokens");
    play_data(p, SIDE_SERVER, 6, 0, "more");
    assert_bytes(p, 0, SIDE_SERVER, "more");
    assert_int_equal(stream(p, 0)->side[SIDE_SERVER].gap_bytes, 6);
    assert_int_equal(play_count(p)->refused_late, 6);
}

static void wild_numbers_are_refused(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_data(p, SIDE_CLIENT, UINT32_C(1500000000), 0, "wild");
    play_data(p, SIDE_CLIENT, UINT32_C(2900000000), 0, "wild");
    play_data(p, SIDE_CLIENT, 3, 0, "def");
    assert_bytes(p, 0, SIDE_CLIENT, "abcdef");
    assert_int_equal(play_count(p)->refused_window, 8);
    assert_int_equal(play_count(p)->gaps, 0);
}

/* Somebody sent other fragments before the true ones. */
static void bytes_of_fragments_that_differ_are_a_conflict(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    p->doubtful = true;
    play_data(p, SIDE_CLIENT, 3, 0, "defg");
    play_data(p, SIDE_CLIENT, 7, 0, "h");
    assert_bytes(p, 0, SIDE_CLIENT, "abcdefgh");
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflicts, 1);
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflict_at, 3);
    assert_int_equal(stream(p, 0)->side[SIDE_CLIENT].conflict_bytes, 4);
}

/* Without the SYN of a new connection of these ports its bytes may look old;
 * they are not taken for copies. */
static void what_is_too_old_is_no_copy(void **state)
{
    struct play *p = *state;

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    play_data(p, SIDE_CLIENT, UINT32_C(0) - 500000000, 0, "other");
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    assert_bytes(p, 0, SIDE_CLIENT, "abc");
    assert_int_equal(play_count(p)->refused_window, 5);
    assert_int_equal(play_count(p)->retransmitted_bytes, 3);
}

/* The server still holds an older connection of these ports: it answers the
 * SYN with that one's numbers, is reset, and answers the next SYN. */
static void a_challenge_of_an_older_connection_is_no_gap(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_text(p, SIDE_SERVER, TCP_ACK, play_at(700000000, 900000000), "");
    play_text(p, SIDE_CLIENT, TCP_RST, play_at(900000000, 0), "");
    play_wait(p, 3000);
    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "hi");
    play_data(p, SIDE_SERVER, 0, 2, "hello");
    play_wait(p, 3000);
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_CLIENT, "hi");
    assert_bytes(p, 0, SIDE_SERVER, "hello");
    assert_int_equal(play_count(p)->gaps, 0);
}

/* As before and behind a machine that changes sequence numbers. */
static void a_second_copy_under_other_numbers_harms_nothing(void **state)
{
    struct play *p = *state;
    uint32_t far = UINT32_C(1500000000);

    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK, play_at(SERVER_ISN + far, far),
              "");
    play_text(p, SIDE_SERVER, TCP_SYN | TCP_ACK,
              play_at(SERVER_ISN, CLIENT_ISN + 1), "");
    play_text(p, SIDE_CLIENT, TCP_ACK, play_at(CLIENT_ISN + 1, SERVER_ISN + 1),
              "");
    play_data(p, SIDE_CLIENT, 0, 0, "hi");
    for (uint32_t i = 0; i < 8; i++) {
        play_data(p, SIDE_SERVER, far + 4 * i, 2, "tick");
        play_data(p, SIDE_SERVER, 4 * i, 2, "tock");
    }
    assert_int_equal(p->rec.n, 1);
    assert_bytes(p, 0, SIDE_SERVER, "tocktocktocktocktocktocktocktock");
    assert_int_equal(play_count(p)->gaps, 0);
    assert_int_equal(play_count(p)->refused_window, 32);
}

/* All of the handshake but the SYN was lost, and what the client said. */
static void what_acknowledges_lost_bytes_twice_makes_a_gap(void **state)
{
    struct play *p = *state;

    play_text(p, SIDE_CLIENT, TCP_SYN, play_at(CLIENT_ISN, 0), "");
    play_data(p, SIDE_SERVER, 0, 5, "");
    play_data(p, SIDE_SERVER, 0, 9, "");
    play_wait(p, 3000);
    assert_int_equal(play_count(p)->gap_bytes, 9);
}

/* So much was lost that the numbers lie more than half the circle away. */
static void a_connection_is_found_again_after_an_endless_loss(void **state)
{
    struct play *p = *state;
    uint32_t far = UINT32_C(1500000000);

    play_handshake(p);
    play_data(p, SIDE_CLIENT, 0, 0, "abc");
    for (uint32_t i = 0; i < 6; i++)
        play_data(p, SIDE_CLIENT, far + 4 * i, 0, "more");
    play_wait(p, 1000);
    assert_int_equal(p->rec.n, 2);
    assert_int_equal(stream(p, 0)->why, END_SUPERSEDED);
    assert_bytes(p, 1, SIDE_CLIENT, "moremoremore");
    assert_false(stream(p, 1)->info.start_seen[SIDE_CLIENT]);
    assert_int_equal(play_count(p)->refused_window, 12);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_overlap_of_two_segments_keeps_the_first_copy),
        cmocka_unit_test(random_segments_give_the_first_copy_of_every_byte),
        TEST(a_flood_of_syns_pushes_out_no_connection_in_use),
        TEST(a_full_pool_ends_the_connection_silent_longest),
        cmocka_unit_test(a_flood_out_of_order_is_held_within_its_share),
        cmocka_unit_test(a_full_pool_of_blocks_ends_the_longest_wait),
        TEST(an_unanswered_syn_changes_nothing),
        TEST(an_answered_syn_replaces_the_connection),
        TEST(a_reset_outside_the_window_is_refused),
        TEST(a_forged_reset_is_disproved_by_its_sender_going_on),
        TEST(a_true_reset_ends_both_sides_and_keeps_late_bytes),
        TEST(the_text_within_a_reset_is_no_stream),
        TEST(a_forged_fin_is_disproved_by_more_bytes),
        TEST(what_goes_on_after_the_end_is_a_connection),
        TEST(a_forged_ack_makes_a_gap_and_never_other_bytes),
        TEST(wild_numbers_are_refused),
        TEST(what_is_too_old_is_no_copy),
        TEST(a_challenge_of_an_older_connection_is_no_gap),
        TEST(a_second_copy_under_other_numbers_harms_nothing),
        TEST(what_acknowledges_lost_bytes_twice_makes_a_gap),
        TEST(bytes_of_fragments_that_differ_are_a_conflict),
        TEST(a_connection_is_found_again_after_an_endless_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
