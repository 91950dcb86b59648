/*
 * test_sse.c - server-sent events, WHATWG HTML section 9.2.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/sse.h"

/* Walks body and writes "name=data;" for each event into out. */
static size_t walk(struct span body, char *out, size_t size)
{
    struct sse s = {.body = body};
    struct span data, name;
    size_t n = 0;

    out[0] = '\0';
    while (sse_next(&s, &data, &name) == PARSE_OK) {
        assert_true(n + name.n + data.n + 3 <= size);
        if (name.n != 0)
            memcpy(out + n, name.p, name.n);
        n += name.n;
        out[n++] = '=';
        memcpy(out + n, data.p, data.n);
        n += data.n;
        out[n++] = ';';
        out[n] = '\0';
    }
    sse_end(&s);
    return s.offset;
}

static void expect(const char *body, const char *events, size_t rest)
{
    char out[256];
    size_t n = strlen(body);

    assert_int_equal(n - walk(span_of(body, n), out, sizeof out), rest);
    assert_string_equal(out, events);
}

static void takes_events_with_each_line_end(void **state)
{
    (void)state;
    expect("data: a\n\ndata: b\n\n", "=a;=b;", 0);
    expect("data: a\r\n\r\ndata: b\r\n\r\n", "=a;=b;", 0);
    expect("data: a\r\rdata: b\r\r", "=a;=b;", 0);
    expect("data: a\r\n\rdata: b\n\r\n", "=a;=b;", 0);
    expect("data: a\r\rdata: b\n\n", "=a;=b;", 0);
}

static void joins_data_lines_with_lf(void **state)
{
    (void)state;
    expect("data: a\ndata:\ndata: b\ndata: c\n\n", "=a\n\nb\nc;", 0);
    expect("data: a\ndata: b\n\ndata: d\n\n", "=a\nb;=d;", 0);
}

static void removes_one_space_after_the_colon(void **state)
{
    (void)state;
    expect("data:a\n\ndata:  b\n\ndata\n\ndata:\n\n", "=a;= b;=;=;", 0);
}

static void passes_over_comments_and_other_fields(void **state)
{
    (void)state;
    expect(": ping\n\n:x\nid: 4\nretry: 9\ndatax: n\ndata: a\n: y\n\n", "=a;",
           0);
}

static void names_belong_to_their_event(void **state)
{
    (void)state;
    expect("event: message_start\ndata: a\n\ndata: b\n\n",
           "message_start=a;=b;", 0);
    expect("event: lost\n\ndata: b\n\n", "=b;", 0);
}

static void leaves_an_unfinished_event(void **state)
{
    (void)state;
    expect("data: a\n\ndata: b\n", "=a;", 8);
    expect("data: a\n\ndata: b", "=a;", 7);
    expect("data: a\n", "", 8);
    expect("", "", 0);
}

static void passes_over_a_byte_order_mark(void **state)
{
    (void)state;
    expect("\xef\xbb\xbf"
           "data: a\n\n",
           "=a;", 0);
}

static void keeps_nul_and_foreign_bytes(void **state)
{
    static const char body[] = "data: a\0\xff\n\n";
    struct sse s = {.body = {(const uint8_t *)body, sizeof body - 1}};
    struct span data, name;

    (void)state;
    assert_int_equal(sse_next(&s, &data, &name), PARSE_OK);
    assert_int_equal(data.n, 3);
    assert_memory_equal(data.p, "a\0\xff", 3);
    assert_int_equal(sse_next(&s, &data, &name), PARSE_MORE);
    assert_int_equal(sse_next(&s, &data, &name), PARSE_MORE);
}

static enum sse_kind kind(const char *data, const char *name)
{
    return sse_kind_of(span_str(data), span_str(name));
}

static void a_heartbeat_has_nothing_to_show(void **state)
{
    static const char *const beats[] = {"", " ", "\t \n", "{\"type\":\"ping\"}",
                                        " {\"type\": \"ping\", \"t\": 3} "};
    static const char *const named[] = {"{}", "{\"t\": 1.5, \"ok\": true}"};
    static const char *const messages[] = {
        "x",
        "{",
        "ping",
        "{\"type\":\"pong\"}",
        "{\"type\":\"ping\",\"content\":\"text\"}",
        "{\"type\":\"ping\",\"choices\":[]}",
        "{\"type\":\"ping\",\"delta\":{}}",
        "{\"type\":\"ping\"",
        "[{\"type\":\"ping\"}]",
        "{\"content\":\"text\"}",
    };
    char longer[200] = "{\"type\":\"ping\",\"n\":";

    (void)state;
    for (size_t i = 0; i < sizeof beats / sizeof *beats; i++) {
        assert_int_equal(kind(beats[i], ""), SSE_HEARTBEAT);
        assert_int_equal(kind(beats[i], "ping"), SSE_HEARTBEAT);
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        assert_int_equal(kind(named[i], ""), SSE_MESSAGE);
        assert_int_equal(kind(named[i], "ping"), SSE_HEARTBEAT);
    }
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        assert_int_equal(kind(messages[i], ""), SSE_MESSAGE);
        assert_int_equal(kind(messages[i], "ping"), SSE_MESSAGE);
    }
    memset(longer + strlen(longer), '1', 150);
    strcpy(longer + strlen(longer), "}");
    assert_int_equal(kind(longer, ""), SSE_MESSAGE);
}

static void the_end_may_have_blanks(void **state)
{
    (void)state;
    assert_int_equal(kind("[DONE]", ""), SSE_DONE);
    assert_int_equal(kind(" [DONE]\t ", "x"), SSE_DONE);
    assert_int_equal(kind("[DONE]x", ""), SSE_MESSAGE);
    assert_int_equal(kind("[ DONE]", ""), SSE_MESSAGE);
}

static void a_body_is_done_when_nothing_follows_its_end(void **state)
{
    static const char *const done[] = {
        "data: a\n\ndata: [DONE]\n\n",
        "data: a\n\ndata:[DONE]\n\n",
        "data: a\r\n\r\ndata: [DONE] \r\n\r\n",
        "data: a\r\rdata: [DONE]\r\r",
        "data: a\n\ndata: [DONE]\n\n: ping\n\n",
        "data: a\n\ndata: [DONE]\n\ndata:\n\n",
        "data: a\n\ndata: [DONE]\n\nevent: ping\ndata: {}\n\n",
        "data: [DONE]\n\n",
    };
    static const char *const open[] = {
        "",
        "data: a\n\n",
        "data: a\n\ndata: [DONE]\n",
        "data: a\n\ndata: [DONE]",
        "data: a\n\ndata: [DONE]\n\ndata: b\n\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        assert_true(sse_is_done(span_str(done[i])));
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_false(sse_is_done(span_str(open[i])));
}

/* Quadratic search for a line's end would take minutes here. */
static void walks_a_megabyte_of_empty_lines(void **state)
{
    enum { N = 1 << 20 };
    char *body = malloc(N), out[16];

    (void)state;
    assert_non_null(body);
    memset(body, '\r', N);
    assert_int_equal(walk(span_of(body, N), out, sizeof out), N);
    body[N - 1] = '\n';
    assert_int_equal(walk(span_of(body, N), out, sizeof out), N);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_events_with_each_line_end),
        cmocka_unit_test(joins_data_lines_with_lf),
        cmocka_unit_test(removes_one_space_after_the_colon),
        cmocka_unit_test(passes_over_comments_and_other_fields),
        cmocka_unit_test(names_belong_to_their_event),
        cmocka_unit_test(leaves_an_unfinished_event),
        cmocka_unit_test(passes_over_a_byte_order_mark),
        cmocka_unit_test(keeps_nul_and_foreign_bytes),
        cmocka_unit_test(a_heartbeat_has_nothing_to_show),
        cmocka_unit_test(the_end_may_have_blanks),
        cmocka_unit_test(a_body_is_done_when_nothing_follows_its_end),
        cmocka_unit_test(walks_a_megabyte_of_empty_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
