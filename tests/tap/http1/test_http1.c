/*
 * test_http1.c - messages of one connection: framing rules of RFC 9112, every
 * split position, and what breaks the rules.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/exchange.h"
#include "talk.h"

enum { WHOLE = 1 << 30 };

/* What is heard when each side says its text, cut at two places (a side is
 * finished before the other begins). */
static void hear(const struct span text[SIDES], size_t cut, size_t step,
                 char *ret_text)
{
    struct talk *t = calloc(1, sizeof *t);

    assert_non_null(t);
    talk_open(t, 0);
    for (int side = 0; side < SIDES; side++) {
        const uint8_t *p = text[side].p;
        size_t n = text[side].n, at = cut < n ? cut : n;

        talk_bytes(t, (enum side)side, span_of(p, at));
        for (; at < n; at += step)
            talk_bytes(t, (enum side)side,
                       span_of(p + at, n - at < step ? n - at : step));
    }
    talk_fin(t, SIDE_SERVER);
    talk_fin(t, SIDE_CLIENT);
    talk_end(t, END_CLOSED, SIDE_SERVER);
    memcpy(ret_text, t->text, t->n + 1);
    talk_close(t);
    free(t);
}

/* Heard whole, it is `expect`; and the same however it is cut. */
static void always_bytes(struct span req, struct span resp, const char *expect)
{
    const struct span text[SIDES] = {req, resp};
    static char got[TALK_TEXT];
    size_t n = req.n > resp.n ? req.n : resp.n;

    hear(text, 0, WHOLE, got);
    assert_string_equal(got, expect);
    for (size_t cut = 0; cut <= n; cut++) {
        hear(text, cut, WHOLE, got);
        assert_string_equal(got, expect);
    }
    for (size_t step = 1; step < 4; step++) {
        hear(text, 0, step, got);
        assert_string_equal(got, expect);
    }
}

static void always(const char *req, const char *resp, const char *expect)
{
    always_bytes(span_str(req), span_str(resp), expect);
}

static void hear_text(const char *req, const char *resp, size_t step,
                      char *ret_text)
{
    const struct span text[SIDES] = {span_str(req), span_str(resp)};

    hear(text, 0, step, ret_text);
}

#define GET   "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
#define OK(n) "HTTP/1.1 200 OK\r\nContent-Length: " #n "\r\n\r\n"

static void frames_a_body_by_its_length(void **state)
{
    (void)state;
    always("POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", OK(3) "bye",
           "POST /a 200 ok [hello] [bye]\n");
    always(GET, OK(0), "GET /a 200 ok [] []\n");
}

static void removes_chunks_extensions_and_trailers(void **state)
{
    (void)state;
    always("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
           "5\r\nhello\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
           "3;a=b\r\none\r\n003  \r\ntwo\r\n0;last\r\nX: y\r\nZ: t\r\n\r\n",
           "POST /a 200 ok [hello] [onetwo]\n");
}

static void ends_a_body_with_the_connection(void **state)
{
    (void)state;
    always(GET, "HTTP/1.0 200 OK\r\n\r\nall of it",
           "GET /a 200 ok [] [all of it]\n");
}

static void knows_answers_without_a_body(void **state)
{
    (void)state;
    always("HEAD /a HTTP/1.1\r\n\r\n" GET GET GET,
           OK(9) "HTTP/1.1 204 No Content\r\n\r\n"
                 "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n" OK(
                     1) "x",
           "HEAD /a 200 ok [] []\nGET /a 204 ok [] []\n"
           "GET /a 304 ok [] []\nGET /a 200 ok [] [x]\n");
}

static void puts_interim_answers_with_the_final_one(void **state)
{
    (void)state;
    always("POST /a HTTP/1.1\r\nExpect: 100-continue\r\n"
           "Content-Length: 2\r\n\r\nhi" GET,
           "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n"
           "Link: </a>\r\n\r\n" OK(2) "yo" OK(1) "z",
           "POST /a 200 ok [hi] [yo]\nGET /a 200 ok [] [z]\n");
}

static void takes_bare_line_feeds_and_empty_lines_before(void **state)
{
    (void)state;
    always("\r\n\nPOST /a HTTP/1.1\nContent-Length: 2\n\nhi\r\n" GET,
           "HTTP/1.1 200 OK\nContent-Length: 2\n\nyo" OK(1) "z",
           "POST /a 200 ok [hi] [yo]\nGET /a 200 ok [] [z]\n");
}

static void joins_folded_fields_but_not_framing_ones(void **state)
{
    (void)state;
    always("GET /a HTTP/1.1\r\nX: a\r\n b\r\n\r\n", OK(1) "x",
           "GET /a 200 ok [] [x]\n");
    always("POST /a HTTP/1.1\r\nContent-Length:\r\n 2\r\n\r\nhi", OK(1) "x",
           "POST /a 200 framing [] [x]\nstray framing 2\n");
}

/* What a user agent reads, RFC 9112 section 5.2. */
static void reads_through_the_folds_of_other_fields(void **state)
{
    struct head h;

    (void)state;
    head_parse(
        span_str("HTTP/1.1 200 OK\r\nContent-Encoding:\r\n gzip\r\n\t,\r\n"
                 " deflate\r\nContent-Type:\n text/event-stream\r\n\r\n"),
        HEAD_RESPONSE, &h);
    assert_false(h.broken);
    assert_true(h.event_stream);
    assert_int_equal(h.content.n, 2);
    assert_int_equal(h.content.of[0], CODING_GZIP);
    assert_int_equal(h.content.of[1], CODING_DEFLATE);
}

static void turns_away_after_an_upgrade(void **state)
{
    (void)state;
    always("GET /a HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
           "HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05hello" OK(3),
           "GET /a 101 ok [] []\nstray upgrade 45\n");
    always("CONNECT h:443 HTTP/1.1\r\n\r\n",
           "HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01hello",
           "CONNECT h:443 200 ok [] []\nstray upgrade 8\n");
}

static void names_what_is_not_http1(void **state)
{
    (void)state;
    always("\x16\x03\x01\x02\x03", "\x16\x03\x03\x02",
           "stray tls 5\n"
           "stray tls 4\n");
    always("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x01\x02\x03\x04",
           "stray http2 24\nstray http2 4\n");
    always("\x01\x02\x03\x04", "SSH-2.0-x\r\n",
           "stray not_http 4\nstray not_http 11\n");
}

/* Request smuggling: two recipients may see two different messages. The
 * exchange says so, whatever follows. */
static void marks_what_two_recipients_read_in_two_ways(void **state)
{
    static const char *const fields[] = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: xchunked, chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Content-Length: 0\r\nX: a\rContent-Length: 5\r\n",
        "Content-Length: 0\r\nno colon\r\n",
        " folded: first\r\n",
        "X: a\r\n \r\nContent-Length: 0\r\n",
        "X: a\r\n\tContent-Length: 0\r\n",
        "X: a\r\n b\r c\r\n",
        "X : a\r\n",
        "X\v: a\r\n",
        ": a\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
    };
    static char got[TALK_TEXT], req[512];

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        (void)snprintf(req, sizeof req, "POST /s HTTP/1.1\r\n%s\r\n0\r\n\r\n",
                       fields[i]);
        hear_text(req, OK(1) "x", WHOLE, got);
        assert_memory_equal(got, "POST /s 200 framing ", 20);
    }
}

/* The same of answers, and of what stands before them. */
static void marks_answers_that_may_be_others(void **state)
{
    static const char *const begins[] = {
        "HTTP/1.1 200 OK\rTransfer-Encoding: chunked\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding : gzip\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n \r\n",
        "\rHTTP/1.1 200 OK\r\n",
        "\r\r\nHTTP/1.1 200 OK\r\n",
    };
    static char resp[512], got[TALK_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        (void)snprintf(resp, sizeof resp, "%sContent-Length: 1\r\n\r\nx",
                       begins[i]);
        always(GET, resp,
               strstr(resp, "chunked\r\nC") && i == 1
                   ? "GET /a 200 framing [] []\nstray framing 1\n"
                   : "GET /a 200 framing [] [x]\n");
    }
    hear_text(GET, "SIP/2.0 200 OK\r\n" OK(1) "x", WHOLE, got);
    assert_string_equal(got, "stray not_http 16\nGET /a 200 framing [] [x]\n");
    always(GET, "\r\n\nHTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 1\r\n\r\nx",
           "GET /a 200 ok [] [x]\n");
    always("GET /a\rX: b HTTP/1.1\r\n\r\n", OK(1) "x",
           "GET /a\rX: b 200 framing [] [x]\n");
}

static void refuses_bodies_without_a_certain_end(void **state)
{
    static const char *const fields[] = {
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length:\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 9223372036854775808\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: \vchunked\r\n",
    };
    static char req[512], expect[128];

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        (void)snprintf(req, sizeof req, "POST /s HTTP/1.1\r\n%s\r\nab;cd",
                       fields[i]);
        (void)snprintf(expect, sizeof expect,
                       "POST /s 400 framing [] []\nstray framing 5\n");
        always(req, "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n", expect);
    }
}

static void accepts_equal_lengths_said_twice(void **state)
{
    (void)state;
    always("POST /s HTTP/1.1\r\nContent-Length: 2, 2\r\n"
           "Content-Length: 2\r\n\r\nhi",
           OK(1) "x", "POST /s 200 ok [hi] [x]\n");
}

static void refuses_chunks_that_are_none(void **state)
{
    static const char *const chunks[] = {
        "-1\r\nx",
        "g\r\nx",
        "\r\nx",
        ";a\r\nx",
        "10000000000000000\r\nx",
        "ffffffffffffffff\r\nx",
        "1\r\nxy\r\n",
        "1\r\nx0\r\n\r\n",
        "0x1\r\nx\r\n0\r\n\r\n",
        "1,\r\nx\r\n0\r\n\r\n",
    };
    static char got[TALK_TEXT], other[TALK_TEXT], resp[512];

    (void)state;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        (void)snprintf(
            resp, sizeof resp,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s",
            chunks[i]);
        hear_text(GET, resp, WHOLE, got);
        assert_memory_equal(got, "GET /a 200 framing ", 19);
        hear_text(GET, resp, 1, other);
        assert_string_equal(got, other);
    }
}

/* Line ends inside chunk framing that recipients differ on. */
static void marks_lax_chunk_lines(void **state)
{
    static const char *const chunks[] = {
        "1\nx\r\n0\r\n\r\n",        "1\r\nx\n0\r\n\r\n",
        "1;a\rb\r\nx\r\n0\r\n\r\n", "1\r\r\nx\r\n0\r\n\r\n",
        "1\r\nx\r\n0\n\r\n",
    };
    static char resp[512];

    (void)state;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        (void)snprintf(
            resp, sizeof resp,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s",
            chunks[i]);
        always(GET, resp, "GET /a 200 framing [] [x]\n");
    }
}

static void stops_endless_heads_and_lines(void **state)
{
    struct talk *t = calloc(1, sizeof *t);

    (void)state;
    assert_non_null(t);
    talk_open(t, 1 << 20);
    talk_say(t, SIDE_CLIENT, "GET /a HTTP/1.1\r\n");
    for (int i = 0; i < 10000; i++)
        talk_say(t, SIDE_CLIENT, "X-Again: and again\r\n");
    talk_fin(t, SIDE_CLIENT);
    talk_end(t, END_CLOSED, SIDE_CLIENT);
    assert_memory_equal(t->text, "stray framing ", 14);
    assert_non_null(strstr(t->text, "GET /a 0 too_large [] []\n"));
    t->n = 0;
    talk_connect(t, false);
    talk_say(t, SIDE_CLIENT, "GET /");
    for (int i = 0; i < 100000; i++)
        talk_say(t, SIDE_CLIENT, "a");
    talk_end(t, END_CAPTURE, SIDE_CLIENT);
    assert_string_equal(t->text, "stray not_http 100005\n");
    talk_close(t);
    free(t);
}

static void counts_what_a_message_has_too_much(void **state)
{
    struct talk *t = calloc(1, sizeof *t);
    static char block[1000];

    (void)state;
    assert_non_null(t);
    memset(block, 'b', sizeof block);
    talk_open(t, 4096);
    talk_say(t, SIDE_CLIENT, GET GET);
    talk_say(t, SIDE_SERVER, OK(10000));
    for (int i = 0; i < 10; i++)
        talk_bytes(t, SIDE_SERVER, span_of(block, sizeof block));
    talk_say(t, SIDE_SERVER, OK(1) "x");
    assert_memory_equal(t->text, "GET /a 200 too_large [] [bbbb", 29);
    assert_non_null(strstr(t->text, "]\nGET /a 200 ok [] [x]\n"));
    talk_close(t);
    free(t);
}

static void takes_a_flood_of_pipelined_requests(void **state)
{
    struct talk *t = calloc(1, sizeof *t);
    struct conn_counters c;

    (void)state;
    assert_non_null(t);
    talk_open(t, 0);
    for (int i = 0; i < 5000; i++)
        talk_say(t, SIDE_CLIENT, GET);
    talk_end(t, END_RESET, SIDE_CLIENT);
    conn_counters(t->table, &c);
    assert_true(c.refused_slots > 0 && c.exchanges > 0);
    talk_close(t);
    free(t);
}

/* The time of an event is that of the piece that holds its end. */
static void times_each_piece_of_a_body(void **state)
{
    struct talk *t = calloc(1, sizeof *t);
    uint64_t offset;
    uint32_t len;
    int64_t time_ns;
    struct span map;

    (void)state;
    assert_non_null(t);
    talk_open(t, 0);
    t->kept = 1;
    talk_say(t, SIDE_CLIENT, GET);
    talk_say(t, SIDE_SERVER,
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    t->now_ns = 5000;
    talk_say(t, SIDE_SERVER, "4\r\none\n\r\n4\r\nt");
    t->now_ns = 6000;
    talk_say(t, SIDE_SERVER, "wo\n\r\n");
    t->now_ns = 7000;
    talk_say(t, SIDE_SERVER, "0\r\n\r\n");
    assert_int_equal(t->n_held, 1);
    map = buffer_span(&t->held[0]->resp.map);
    assert_int_equal(map.n, 3 * EXCHANGE_PIECE_BYTES);
    assert_true(exchange_piece(map, 0, &offset, &len, &time_ns));
    assert_true(len == 4 && time_ns == 5000);
    assert_true(exchange_piece(map, 1, &offset, &len, &time_ns));
    assert_true(len == 1 && time_ns == 5000);
    assert_true(exchange_piece(map, 2, &offset, &len, &time_ns));
    assert_true(len == 3 && time_ns == 6000);
    assert_true(t->held[0]->resp.last_ns == 7000);
    talk_close(t);
    free(t);
}

/* HAProxy's "The PROXY protocol", sections 2.1 and 2.2. */
#define PROXY_2 "\r\n\r\n\0\r\nQUIT\n"

#define SPAN(text) span_of(text, sizeof(text) - 1)

static void reads_past_the_header_of_a_balancer(void **state)
{
    const struct span headers[] = {
        SPAN("PROXY TCP4 192.168.1.1 10.0.0.2 56324 8080\r\n"),
        SPAN("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
             "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
        SPAN("PROXY UNKNOWN\r\n"),
        SPAN("PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n"),
        SPAN(PROXY_2 "\x21\x11\0\x0c\xc0\xa8\1\1\x0a\0\0\2\xdc\x04\x1f\x90"),
        SPAN(PROXY_2 "\x20\0\0\0"), /* the balancer's own check */
        /* Its bytes mean nothing to HTTP, even if they look like it. */
        SPAN(PROXY_2 "\x21\0\0\x1cGET /x HTTP/1.1\r\nHost: h\r\n\r\n"),
    };
    char request[512];

    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        memcpy(request, headers[i].p, headers[i].n);
        memcpy(request + headers[i].n, GET, sizeof GET - 1);
        always_bytes(span_of(request, headers[i].n + sizeof GET - 1),
                     SPAN(OK(1) "x"), "GET /a 200 ok [] [x]\n");
    }
}

static void takes_what_is_no_such_header_as_it_comes(void **state)
{
    static char got[TALK_TEXT];

    (void)state;
    always("PROPFIND /a HTTP/1.1\r\n\r\n" GET, OK(1) "x" OK(1) "y",
           "PROPFIND /a 200 ok [] [x]\nGET /a 200 ok [] [y]\n");
    always("PROXY /a HTTP/1.1\r\n\r\n", OK(1) "x", "PROXY /a 200 ok [] [x]\n");
    always("\r\n\r\n" GET, OK(1) "x", "GET /a 200 ok [] [x]\n");
    always("PROX", "", "stray not_http 4\n");
    /* In an answer's place it is none. */
    hear_text(GET, "PROXY UNKNOWN\r\n" OK(1) "x", WHOLE, got);
    assert_string_equal(got, "stray not_http 15\nGET /a 200 framing [] [x]\n");
}

/* Of another version, or longer than a balancer has to tell. */
static void refuses_a_balancers_header_that_is_none(void **state)
{
    static const char two[] = PROXY_2 "\x31\x11\0\x0c" GET;
    static const char vast[] = PROXY_2 "\x21\x11\xff\xff" GET;
    const struct span text[][SIDES] = {{SPAN(two), SPAN(OK(1) "x")},
                                       {SPAN(vast), SPAN(OK(1) "x")}};
    static char got[TALK_TEXT];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        hear(text[i], 0, WHOLE, got);
        assert_non_null(strstr(got, "stray not_http"));
        assert_null(strstr(got, "ok ["));
    }
}

static void counts_a_balancers_header_that_is_cut_off(void **state)
{
    static const char header[] = PROXY_2 "\x21\x11\0\x0c\xc0\xa8";
    struct talk t;

    (void)state;
    for (size_t n = 1; n < sizeof header; n++) {
        talk_open(&t, 0);
        talk_bytes(&t, SIDE_CLIENT, span_of(header, n));
        if (n % 2 == 0)
            talk_lose(&t, SIDE_CLIENT, 10);
        talk_close(&t); /* every byte is accounted for */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_a_body_by_its_length),
        cmocka_unit_test(removes_chunks_extensions_and_trailers),
        cmocka_unit_test(ends_a_body_with_the_connection),
        cmocka_unit_test(knows_answers_without_a_body),
        cmocka_unit_test(puts_interim_answers_with_the_final_one),
        cmocka_unit_test(takes_bare_line_feeds_and_empty_lines_before),
        cmocka_unit_test(joins_folded_fields_but_not_framing_ones),
        cmocka_unit_test(reads_through_the_folds_of_other_fields),
        cmocka_unit_test(marks_answers_that_may_be_others),
        cmocka_unit_test(turns_away_after_an_upgrade),
        cmocka_unit_test(names_what_is_not_http1),
        cmocka_unit_test(marks_what_two_recipients_read_in_two_ways),
        cmocka_unit_test(refuses_bodies_without_a_certain_end),
        cmocka_unit_test(accepts_equal_lengths_said_twice),
        cmocka_unit_test(refuses_chunks_that_are_none),
        cmocka_unit_test(marks_lax_chunk_lines),
        cmocka_unit_test(stops_endless_heads_and_lines),
        cmocka_unit_test(counts_what_a_message_has_too_much),
        cmocka_unit_test(takes_a_flood_of_pipelined_requests),
        cmocka_unit_test(times_each_piece_of_a_body),
        cmocka_unit_test(reads_past_the_header_of_a_balancer),
        cmocka_unit_test(takes_what_is_no_such_header_as_it_comes),
        cmocka_unit_test(refuses_a_balancers_header_that_is_none),
        cmocka_unit_test(counts_a_balancers_header_that_is_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
