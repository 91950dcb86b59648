/*
 * test_stream.c - one stream, however it is spelt, is one answer: line ends,
 * the space behind "data:", what keeps it open between its messages, and the
 * blanks around its end.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "store/dialect.h"

#define CHUNK(delta, finish)                                    \
    "{\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0," \
    "\"delta\":{" delta "},\"finish_reason\":" finish "}]}"

static const char request[] =
    "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\","
    "\"content\":\"hi\"}]}";

static const char *const messages[] = {
    CHUNK("\"role\":\"assistant\",\"content\":\"\"", "null"),
    CHUNK("\"content\":\"Hel\"", "null"),
    CHUNK("\"content\":\"lo\"", "null"),
    CHUNK("", "\"stop\""),
};
enum { MESSAGES = sizeof messages / sizeof *messages };

/* Lines between two messages, joined by LF; the line end of the spelling is
 * put in their place. */
static const char *const betweens[] = {
    "",
    ": keep-alive\n\n",
    ":\n\n\n\n",
    "data:\n\n",
    "data: \n\n",
    "data\n\n",
    "event: ping\n\n",
    "event: ping\ndata: \n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "data: {\"type\":\"ping\"}\n\n",
    "event: ping\nid: 7\nretry: 10\ndata: {}\n\n",
};
static const char *const line_ends[] = {"\n", "\r\n", "\r"};
static const char *const fields[] = {"data:", "data: "};
static const char *const dones[] = {"[DONE]", "[DONE] ", " \t[DONE]\t"};

struct spelling {
    const char *between, *end, *field, *done;
};

static void put(char *body, const char *text, const char *end)
{
    for (; *text != '\0'; text++) {
        char c[] = {*text, '\0'};

        strcat(body, *text == '\n' ? end : c);
    }
}

static void spell(const struct spelling *s, char *body)
{
    *body = '\0';
    for (size_t i = 0; i <= MESSAGES; i++) {
        put(body, s->between, s->end);
        put(body, s->field, s->end);
        put(body, i < MESSAGES ? messages[i] : s->done, s->end);
        put(body, "\n\n", s->end);
    }
    put(body, s->between, s->end);
}

static void expect_hello(const char *body, uint64_t events)
{
    struct api_exchange x;
    struct api_summary s;

    if (dialect_parse("openai.chat", span_str(request), span_str(body), true,
                      &x) != PARSE_OK)
        fail_msg("%s in %s", x.why, body);
    assert_int_equal(x.answer.n_choices, 1);
    assert_true(span_eq_str(x.answer.choices[0].text, "Hello"));
    assert_true(span_eq_str(x.answer.choices[0].finish, "stop"));
    assert_true(x.answer.ended);
    assert_int_equal(x.answer.events, events);
    dialect_free(&x);
    assert_int_equal(dialect_summary("openai.chat", span_str(request),
                                     span_str(body), true, &s),
                     PARSE_OK);
    assert_string_equal(s.model, "m");
    assert_string_equal(s.id, "c1");
    assert_int_equal(s.events, events);
    assert_int_equal(s.tokens_out, 2);
    assert_string_equal(s.tokens_from, "events");
}

static void every_spelling_is_the_same_answer(void **state)
{
    enum {
        BETWEENS = sizeof betweens / sizeof *betweens,
        ENDS = sizeof line_ends / sizeof *line_ends,
        FIELDS = sizeof fields / sizeof *fields,
        DONES = sizeof dones / sizeof *dones,
        ALL = BETWEENS * ENDS * FIELDS * DONES
    };
    char body[8192];

    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        struct spelling s = {
            .between = betweens[i % BETWEENS],
            .end = line_ends[i / BETWEENS % ENDS],
            .field = fields[i / (BETWEENS * ENDS) % FIELDS],
            .done = dones[i / (BETWEENS * ENDS * FIELDS)],
        };

        spell(&s, body);
        expect_hello(body, MESSAGES + 1);
    }
}

/* Clients show the text of an event of any name: it is no heartbeat. */
static void text_in_a_ping_is_text(void **state)
{
    char body[8192];

    (void)state;
    (void)snprintf(body, sizeof body,
                   "data: %s\n\nevent: ping\ndata: %s\n\ndata: %s\n\n"
                   "data: %s\n\ndata: [DONE]\n\n",
                   messages[0], messages[1], messages[2], messages[3]);
    expect_hello(body, MESSAGES + 1);
}

static void anthropics_pings_are_no_events(void **state)
{
    static const char body[] =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"
        "{\"id\":\"a\",\"model\":\"m\",\"content\":[],\"usage\":"
        "{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"
        "event: ping\ndata: {\"type\": \"ping\"}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\","
        "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
        "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}"
        "\n\n"
        "event: ping\n\n"
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
        "{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    static const char ask[] =
        "{\"model\":\"m\",\"max_tokens\":9,\"stream\":true,\"messages\":"
        "[{\"role\":\"user\",\"content\":\"hi\"}]}";
    struct api_exchange x;
    struct api_summary s;

    (void)state;
    assert_int_equal(dialect_parse("anthropic.messages", span_str(ask),
                                   span_str(body), true, &x),
                     PARSE_OK);
    assert_true(span_eq_str(x.answer.choices[0].text, "Hello"));
    assert_true(x.answer.ended);
    assert_int_equal(x.answer.events, 5);
    dialect_free(&x);
    assert_int_equal(dialect_summary("anthropic.messages", span_str(ask),
                                     span_str(body), true, &s),
                     PARSE_OK);
    assert_int_equal(s.events, 5);
    assert_int_equal(s.tokens_out, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_is_the_same_answer),
        cmocka_unit_test(text_in_a_ping_is_text),
        cmocka_unit_test(anthropics_pings_are_no_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
