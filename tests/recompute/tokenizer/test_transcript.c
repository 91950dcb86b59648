/*
 * test_transcript.c - the text of an answer while it is made: stop strings
 * across token borders, unfinished characters, what is held back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/tokenizer.h"
#include "recompute/transcript.h"

/* Ids 0..255 are the bytes; then some longer tokens; 258 is special. */
static struct tokenizer *bytes;

enum { HELLO = 256, STOPPED = 257, SPECIAL = 258 };

static int open_bytes(void **state)
{
    static char form[16384];
    struct error error = {""};
    size_t n = 0;

    (void)state;
    n += (size_t)snprintf(form, sizeof form,
                          "{\"added_tokens\":[{\"id\":258,\"content\":\"<e>\","
                          "\"single_word\":false,\"lstrip\":false,\"rstrip\":"
                          "false,\"normalized\":false,\"special\":true}],"
                          "\"decoder\":{\"type\":\"ByteFallback\"},\"model\":"
                          "{\"type\":\"BPE\",\"merges\":[],\"vocab\":{");
    for (unsigned i = 0; i < 256; i++)
        n += (size_t)snprintf(form + n, sizeof form - n, "\"<0x%02X>\":%u,", i,
                              i);
    (void)snprintf(form + n, sizeof form - n,
                   "\"Hello\":256,\"x STOP y\":257}}}");
    if (tokenizer_parse(span_str(form), &bytes, &error) != 0)
        fail_msg("%s", error.text);
    return 0;
}

static int close_bytes(void **state)
{
    (void)state;
    tokenizer_close(bytes);
    return 0;
}

struct script {
    struct transcript t;
    char pieces[512]; /* each with a bar after it, empty ones left out */
};

static void add(struct script *s, struct span piece)
{
    if (piece.n == 0)
        return;
    strncat(s->pieces, (const char *)piece.p, piece.n);
    strcat(s->pieces, "|");
}

static void begin(struct script *s, const struct span *stops, size_t n,
                  const char *echo)
{
    s->pieces[0] = '\0';
    assert_int_equal(transcript_init(&s->t, bytes, stops, n, span_str(echo)),
                     0);
}

static void token(struct script *s, uint32_t id)
{
    struct span piece;

    assert_int_equal(transcript_token(&s->t, id, &piece), 0);
    add(s, piece);
}

static void letters(struct script *s, const char *text)
{
    for (; *text != '\0'; text++)
        token(s, (uint8_t)*text);
}

static void end(struct script *s, const char *pieces, const char *text)
{
    struct span piece;

    assert_int_equal(transcript_end(&s->t, &piece), 0);
    add(s, piece);
    assert_string_equal(s->pieces, pieces);
    assert_true(span_eq_str(transcript_text(&s->t), text));
    transcript_fini(&s->t);
}

static void pieces_come_token_by_token(void **state)
{
    struct script s;

    (void)state;
    begin(&s, NULL, 0, "");
    token(&s, HELLO);
    token(&s, SPECIAL);
    letters(&s, "!");
    end(&s, "Hello|!|", "Hello!");
}

static void unfinished_characters_wait(void **state)
{
    struct script s;

    (void)state;
    begin(&s, NULL, 0, "");
    letters(&s, "\xf0\x9f\x99\x82z");
    letters(&s, "\xe2\x82");
    end(&s, "\xf0\x9f\x99\x82|z|\ufffd|", "\xf0\x9f\x99\x82z\ufffd");
}

static void ill_formed_parts_become_one_mark_each(void **state)
{
    struct script s;

    (void)state;
    begin(&s, NULL, 0, "");
    letters(&s, "\xff"
                "a\xe2\x82"
                "b\xc3\xc3\xa9");
    end(&s,
        "\ufffd|a|\ufffd"
        "b|\ufffd|\u00e9|",
        "\ufffd"
        "a\ufffd"
        "b\ufffd\u00e9");
}

static void stop_string_across_tokens_ends_the_text_before_it(void **state)
{
    const struct span stops[] = {span_str("STOP")};
    struct script s;

    (void)state;
    begin(&s, stops, 1, "");
    letters(&s, "abSTO");
    assert_false(transcript_stopped(&s.t));
    assert_string_equal(s.pieces, "a|b|");
    letters(&s, "Pcd");
    assert_true(transcript_stopped(&s.t));
    end(&s, "a|b|", "ab");
}

static void held_text_comes_when_it_is_no_stop(void **state)
{
    const struct span stops[] = {span_str("aab")};
    struct script s;

    (void)state;
    begin(&s, stops, 1, "");
    letters(&s, "aaac");
    end(&s, "a|aac|", "aaac");
    begin(&s, stops, 1, "");
    letters(&s, "xaa");
    end(&s, "x|aa|", "xaa");
}

static void stop_within_a_token_cuts_the_token(void **state)
{
    const struct span stops[] = {span_str("STOP"), span_str(" ST")};
    struct script s;

    (void)state;
    begin(&s, stops, 1, "");
    token(&s, STOPPED);
    assert_true(transcript_stopped(&s.t));
    end(&s, "x |", "x ");
    /* The one that ends first counts. */
    begin(&s, stops, 2, "");
    token(&s, STOPPED);
    end(&s, "x|", "x");
}

static void of_two_that_end_together_the_longer_counts(void **state)
{
    const struct span stops[] = {span_str("b"), span_str("aab")};
    struct script s;

    (void)state;
    begin(&s, stops, 2, "");
    letters(&s, "caab");
    end(&s, "c|", "c");
}

static void echo_is_given_first_and_never_stops(void **state)
{
    const struct span stops[] = {span_str("pt")};
    struct script s;

    (void)state;
    begin(&s, stops, 1, "prompt ");
    letters(&s, "t");
    end(&s, "prompt t|", "prompt t");
    /* Nor does a stop string begin in it. */
    begin(&s, stops, 1, "p");
    letters(&s, "tpt");
    end(&s, "pt|", "pt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_token_by_token),
        cmocka_unit_test(unfinished_characters_wait),
        cmocka_unit_test(ill_formed_parts_become_one_mark_each),
        cmocka_unit_test(stop_string_across_tokens_ends_the_text_before_it),
        cmocka_unit_test(held_text_comes_when_it_is_no_stop),
        cmocka_unit_test(stop_within_a_token_cuts_the_token),
        cmocka_unit_test(of_two_that_end_together_the_longer_counts),
        cmocka_unit_test(echo_is_given_first_and_never_stops),
    };

    return cmocka_run_group_tests(tests, open_bytes, close_bytes);
}
