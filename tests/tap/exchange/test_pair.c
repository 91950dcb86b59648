/*
 * test_pair.c - requests and answers stay together, or apart, when messages
 * are lost, early, missing or one-sided.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "talk.h"

#define GET(x)  "GET /" #x " HTTP/1.1\r\n\r\n"
#define OK(x)   "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" #x
#define BOTH(x) "GET /" #x " 200 ok [] [" #x "]\n"

static const enum side C = SIDE_CLIENT, S = SIDE_SERVER;

static int setup(void **state)
{
    struct talk *t = calloc(1, sizeof *t);

    if (t == NULL)
        return -1;
    talk_open(t, 0);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    talk_close(*state);
    free(*state);
    return 0;
}

static void heard(struct talk *t, const char *expect)
{
    talk_end(t, END_CLOSED, C);
    assert_string_equal(t->text, expect);
}

static void pairs_in_order_with_keep_alive_and_pipelining(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    talk_say(t, C, GET(b) GET(c) "GET /d HT");
    talk_say(t, S, OK(b) "HTTP/1.1 ");
    talk_say(t, C, "TP/1.1\r\n\r\n");
    talk_say(t, S, "200 OK\r\nContent-Length: 1\r\n\r\nc" OK(d));
    heard(t, BOTH(a) BOTH(b) BOTH(c) BOTH(d));
}

/* libhtp#403: answer 1 and request 2 are lost; 1 must not marry 2. */
static void keeps_apart_when_answer_and_next_request_are_lost(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_lose(t, S, 40);
    talk_lose(t, C, 22);
    talk_say(t, S, OK(b));
    talk_say(t, C, GET(c));
    talk_say(t, S, OK(c));
    heard(t, "GET /a 0 no_answer [] []\n- - 200 no_request [] [b]\n" BOTH(c));
}

static void goes_on_in_step_after_a_lost_answer(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_lose(t, S, 40);
    talk_say(t, C, GET(b));
    talk_say(t, S, OK(b));
    heard(t, "GET /a 0 no_answer [] []\n" BOTH(b));
}

static void goes_on_in_step_after_a_lost_request(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    talk_lose(t, C, 22);
    talk_say(t, S, OK(b));
    talk_say(t, C, GET(c));
    talk_say(t, S, OK(c));
    heard(t, BOTH(a) "- - 200 no_request [] [b]\n" BOTH(c));
}

/* Both are lost, and the loss of the answer is told first. */
static void goes_on_in_step_after_a_lost_exchange(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    talk_lose(t, S, 40);
    talk_lose(t, C, 22);
    talk_say(t, C, GET(c));
    talk_say(t, S, OK(c));
    heard(t, BOTH(a) BOTH(c));
}

/* While one answer's rest is skipped, the next is lost too. */
static void goes_on_in_step_after_answers_lost_one_by_one(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_lose(t, S, 40);
    talk_say(t, C, GET(b));
    talk_lose(t, S, 40);
    talk_say(t, C, GET(c));
    talk_say(t, S, "HTTP/1.1 200 OK\r\nno head\r\n\r\n");
    talk_say(t, C, GET(d));
    talk_say(t, S, OK(d));
    heard(t, "GET /a 0 no_answer [] []\nGET /b 0 no_answer [] []\n"
             "GET /c 0 no_answer [] []\nstray framing 28\n" BOTH(d));
}

static void goes_on_in_step_after_several_lost_on_both_sides(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    talk_lose(t, C, 22);
    talk_lose(t, S, 40);
    talk_lose(t, C, 22);
    talk_lose(t, S, 40);
    talk_say(t, C, GET(d));
    talk_say(t, S, OK(d));
    heard(t, BOTH(a) BOTH(d));
}

/* The gap took the end of answer a and the head of b's. */
static void never_guesses_for_a_client_that_pipelines(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a) GET(b) GET(c));
    talk_lose(t, S, 40);
    talk_say(t, S, OK(x));
    talk_say(t, S, OK(y));
    talk_end(t, END_CLOSED, C);
    assert_string_equal(t->text,
                        "- - 200 no_request [] [x]\n- - 200 no_request [] [y]\n"
                        "GET /a 0 no_answer [] []\nGET /b 0 no_answer [] []\n"
                        "GET /c 0 no_answer [] []\n");
}

static void keeps_framing_through_a_gap_inside_a_body(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01");
    talk_lose(t, S, 5);
    talk_say(t, S, "789");
    talk_say(t, C, GET(b));
    talk_say(t, S,
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "a\r\n0");
    talk_lose(t, S, 8);
    talk_say(t, S, "9\r\n0\r\n\r\n");
    talk_say(t, C, GET(c));
    talk_say(t, S, OK(c));
    heard(t, "GET /a 200 gap [] [01789]\nGET /b 200 gap [] [09]\n" BOTH(c));
}

static void ends_a_body_whose_last_bytes_are_lost(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n01");
    talk_lose(t, S, 2);
    talk_say(t, C, GET(b));
    talk_say(t, S, OK(b));
    heard(t, "GET /a 200 gap [] [01]\n" BOTH(b));
}

/* Chunk framing is lost; text in the body that looks like an answer but does
 * not begin a line is none. */
static void finds_the_next_answer_after_framing_is_lost(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S,
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "5\r\n01");
    talk_lose(t, S, 30);
    talk_say(t, S, "text: HTTP/1.1 200 OK\\r\\n\r\n0\r\n\r\n");
    talk_say(t, C, GET(b));
    talk_say(t, S, OK(b));
    heard(t, "GET /a 200 gap [] [01]\nstray framing 32\n" BOTH(b));
}

static void leaves_unasked_answers_alone(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a) OK(x) OK(y));
    talk_say(t, C, GET(b));
    talk_say(t, S, OK(b));
    heard(t, BOTH(a) "- - 200 no_request [] [x]\n"
                     "- - 200 no_request [] [y]\n" BOTH(b));
}

static void takes_an_answer_before_the_request_has_ended(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, "POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhe");
    talk_say(t, S, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    assert_string_equal(t->text, "");
    talk_say(t, C, "llo");
    heard(t, "POST /a 413 ok [hello] []\n");
}

static void takes_an_answer_before_the_head_has_ended(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, "HEAD /a HTTP/1.1\r\nX: y\r\n");
    talk_say(t, S, "HTTP/1.1 431 Too Large\r\nContent-Length: 9\r\n\r\n");
    assert_string_equal(t->text, "");
    talk_say(t, C, "X: z\r\n\r\n" GET(b) "POST /c HTTP/1.1\r\nX:");
    talk_say(t, S, OK(b) "HTTP/1.1 408 Too Late\r\nContent-Length: 0\r\n\r\n");
    talk_fin(t, S);
    talk_end(t, END_RESET, S);
    assert_string_equal(
        t->text, "HEAD /a 431 ok [] []\n" BOTH(b) "POST /c 408 cut [] []\n");
}

static void joins_a_connection_in_the_middle(void **state)
{
    struct talk *t = *state;

    talk_connect(t, true);
    talk_say(t, S, "of an answer\r\ndata: x\r\n\r\n");
    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    heard(t, "stray framing 25\n" BOTH(a));
}

static void says_when_it_joined_between_request_and_answer(void **state)
{
    struct talk *t = *state;

    talk_connect(t, true);
    talk_say(t, S, OK(x));
    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    heard(t, "- - 200 mid_stream [] [x]\n" BOTH(a));
}

/* Which side asks is told by the messages, not by the guess of the stream. */
static void finds_the_client_by_what_it_says(void **state)
{
    struct talk *t = *state;

    talk_connect(t, true);
    talk_say(t, S, GET(a));
    talk_say(t, C, OK(a));
    heard(t, BOTH(a));
}

static void gives_one_sided_captures_half_exchanges(void **state)
{
    struct talk *t = *state;

    talk_connect(t, true);
    talk_say(t, C, GET(a));
    talk_say(t, C, GET(b));
    talk_end(t, END_CAPTURE, C);
    talk_connect(t, true);
    talk_say(t, S, OK(x));
    talk_say(t, S, OK(y));
    talk_end(t, END_CAPTURE, C);
    assert_string_equal(t->text, "GET /a 0 no_answer [] []\n"
                                 "GET /b 0 no_answer [] []\n"
                                 "- - 200 mid_stream [] [x]\n"
                                 "- - 200 no_request [] [y]\n");
}

static const char stream_begin[] =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n";

/* Who ended it, and whether anyone did. */
static void tells_cuts_apart(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, stream_begin);
    talk_fin(t, C);
    talk_end(t, END_RESET, S);
    talk_connect(t, false);
    talk_say(t, C, GET(b));
    talk_say(t, S, stream_begin);
    talk_end(t, END_RESET, C);
    talk_connect(t, false);
    talk_say(t, C, GET(c));
    talk_say(t, S, stream_begin);
    talk_fin(t, S);
    talk_end(t, END_CLOSED, C);
    talk_connect(t, false);
    talk_say(t, C, GET(d));
    talk_say(t, S, stream_begin);
    talk_end(t, END_CAPTURE, C);
    talk_connect(t, false);
    talk_say(t, C, GET(e));
    talk_fin(t, S);
    talk_end(t, END_CLOSED, C);
    assert_string_equal(
        t->text,
        "GET /a 200 client_cut [] [ab]\nGET /b 200 client_cut [] [ab]\n"
        "GET /c 200 cut [] [ab]\nGET /d 200 capture_end [] [ab]\n"
        "GET /e 0 no_answer [] []\n");
}

static void needs_the_close_for_a_body_that_ends_with_it(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, "HTTP/1.1 200 OK\r\n\r\nab");
    talk_end(t, END_RESET, S);
    talk_connect(t, false);
    talk_say(t, C, GET(b));
    talk_say(t, S, "HTTP/1.1 200 OK\r\n\r\nab");
    talk_fin(t, S);
    assert_string_equal(t->text,
                        "GET /a 200 cut [] [ab]\nGET /b 200 ok [] [ab]\n");
}

static void records_a_head_cut_off(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, "GET /a HTTP/1.1\r\nHost: ");
    talk_lose(t, C, 10);
    talk_say(t, C, "x\r\n\r\n");
    talk_say(t, S, OK(a));
    heard(t, "GET /a 200 gap [] [a]\nstray framing 5\n");
}

static void records_a_start_line_cut_off(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, GET(a));
    talk_say(t, S, "HTTP/1.1 302 Fo");
    talk_lose(t, S, 40);
    talk_say(t, C, GET(b) "GET /c?d=e HT");
    talk_end(t, END_CAPTURE, C);
    assert_string_equal(t->text, "GET /a 302 gap [] []\n"
                                 "GET /b 0 no_answer [] []\n"
                                 "GET /c?d=e HT 0 capture_end [] []\n");
}

/* All that some captures have is the beginning of one packet. */
static void records_a_head_cut_off_in_mid_stream(void **state)
{
    struct talk *t = *state;

    talk_connect(t, true);
    talk_say(t, S, "HTTP/1.1 200 OK\r\nDate: T");
    talk_lose(t, S, 900);
    talk_say(t, S, "HTTP/1.1 500 No\r\nDate: T");
    talk_lose(t, S, 900);
    talk_end(t, END_CAPTURE, C);
    assert_string_equal(t->text, "- - 200 gap [] []\nstray framing 24\n");
    talk_connect(t, true);
    t->n = 0;
    talk_say(t, C, "GET /a HTTP/1.1\r\nHost");
    talk_end(t, END_CAPTURE, C);
    assert_string_equal(t->text, "GET /a 0 capture_end [] []\n");
}

static void marks_the_message_whose_copies_differ(void **state)
{
    struct talk *t = *state;
    struct stream_conflict x = {.offset = 30, .n = 2};
    struct conn_counters c;

    talk_say(t, C, GET(a));
    talk_say(t, S, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na");
    t->h.conflict(t->user, S, &x);
    talk_say(t, S, "b");
    t->h.conflict(t->user, S, &x); /* too late to say so in its record */
    conn_counters(t->table, &c);
    assert_int_equal(c.late_conflict_bytes, 2);
    heard(t, "GET /a 200 conflict [] [ab]\n");
}

/* Both copies came while bytes before them were missing. */
static void marks_the_message_whose_bytes_to_come_differ(void **state)
{
    struct talk *t = *state;
    struct stream_conflict x = {.offset = 40, .n = 1};
    struct conn_counters c;

    talk_say(t, C, GET(a));
    talk_say(t, S, "HTTP/1.1 200 OK\r\n");
    t->h.conflict(t->user, S, &x);
    talk_say(t, S, "Content-Length: 8\r\n\r\nabcdefgh");
    talk_say(t, C, GET(b));
    talk_say(t, S, OK(b));
    conn_counters(t->table, &c);
    assert_int_equal(c.late_conflicts, 0);
    heard(t, "GET /a 200 conflict [] [abcdefgh]\n" BOTH(b));
}

/* Of a connection joined in the middle nobody can tell that this byte is
 * none of its stream. */
static void a_keep_alive_probe_hides_no_request(void **state)
{
    struct talk *t = *state;

    talk_connect(t, true);
    talk_bytes(t, C, span_of((const uint8_t *)"", 1));
    talk_say(t, C, GET(a));
    talk_say(t, S, OK(a));
    heard(t, "stray framing 1\n" BOTH(a));
}

/* A request inside the body of one whose end nobody can tell must not take
 * part in pairing. */
static void does_not_pair_what_may_be_smuggled(void **state)
{
    struct talk *t = *state;

    talk_say(t, C,
             "POST /a HTTP/1.1\r\nContent-Length: 3\r\n"
             "Content-Length: 20\r\n\r\n\r\n" GET(evil));
    talk_say(t, S, OK(a));
    talk_say(t, C, GET(b));
    talk_say(t, S, OK(b));
    talk_end(t, END_CLOSED, C);
    assert_string_equal(
        t->text, "stray framing 2\nPOST /a 200 framing [] [a]\n"
                 "- - 200 no_request [] [b]\nGET /evil 0 no_answer [] []\n"
                 "GET /b 0 no_answer [] []\n");
}

static void skips_a_proxy_line_before_the_first_request(void **state)
{
    struct talk *t = *state;

    talk_say(t, C, "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" GET(a));
    talk_say(t, S, OK(a));
    heard(t, BOTH(a)); /* understood: no stray bytes */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(pairs_in_order_with_keep_alive_and_pipelining),
        TEST(keeps_apart_when_answer_and_next_request_are_lost),
        TEST(goes_on_in_step_after_a_lost_answer),
        TEST(goes_on_in_step_after_a_lost_request),
        TEST(goes_on_in_step_after_a_lost_exchange),
        TEST(goes_on_in_step_after_answers_lost_one_by_one),
        TEST(goes_on_in_step_after_several_lost_on_both_sides),
        TEST(never_guesses_for_a_client_that_pipelines),
        TEST(keeps_framing_through_a_gap_inside_a_body),
        TEST(ends_a_body_whose_last_bytes_are_lost),
        TEST(finds_the_next_answer_after_framing_is_lost),
        TEST(leaves_unasked_answers_alone),
        TEST(takes_an_answer_before_the_request_has_ended),
        TEST(takes_an_answer_before_the_head_has_ended),
        TEST(records_a_start_line_cut_off),
        TEST(joins_a_connection_in_the_middle),
        TEST(says_when_it_joined_between_request_and_answer),
        TEST(finds_the_client_by_what_it_says),
        TEST(gives_one_sided_captures_half_exchanges),
        TEST(tells_cuts_apart),
        TEST(needs_the_close_for_a_body_that_ends_with_it),
        TEST(records_a_head_cut_off),
        TEST(records_a_head_cut_off_in_mid_stream),
        TEST(marks_the_message_whose_copies_differ),
        TEST(marks_the_message_whose_bytes_to_come_differ),
        TEST(a_keep_alive_probe_hides_no_request),
        TEST(does_not_pair_what_may_be_smuggled),
        TEST(skips_a_proxy_line_before_the_first_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
