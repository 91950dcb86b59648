/*
 * test_llama_reply.c - tokens as llama-server writes them: which it lists, and
 * what text comes out. The vocabulary is make_llama_text_corpus.py's spm; what
 * is expected was seen of the server (b11434) or stands in its source.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "engine/llama/reply.h"
#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"

enum { END = 2, A = 260, B = 261, C = 262, AB = 263, SPACE = 259 };

/* The token of a byte. */
#define BYTE(b) (3 + (b))

static struct llama_vocab *vocab;

static int open_vocab(void **state)
{
    struct error error;
    struct gguf *g;

    (void)state;
    assert_int_equal(gguf_open(VOCABULARIES "/spm.gguf", &g, &error), 0);
    assert_int_equal(llama_vocab_open(g, &vocab, &error), 0);
    gguf_close(g);
    return 0;
}

static int close_vocab(void **state)
{
    (void)state;
    llama_vocab_close(vocab);
    return 0;
}

/* The tokens' reply in this form; listed: a character a token, x or not. */
static void writes(enum llama_reply_form form, const char *stop,
                   const uint32_t *ids, const char *listed, const char *text)
{
    struct span stops[] = {span_str(stop)};
    struct llama_reply r =
        llama_reply_start(vocab, form, stops, stops[0].n != 0);
    struct arena arena = {0};
    size_t n = strlen(listed);
    struct span got;

    for (size_t i = 0; i < n; i++) {
        assert_null(r.stop);
        assert_int_equal(llama_reply_add(&r, ids[i]), 0);
    }
    assert_int_equal(llama_reply_end(&r), 0);
    for (size_t i = 0; i < n; i++)
        if (r.listed[i] != (listed[i] == 'x'))
            fail_msg("token %zu of %s", i, listed);
    got = llama_reply_text(&r, &arena);
    assert_int_equal(got.n, strlen(text));
    assert_memory_equal(got.p, text, got.n);
    arena_fini(&arena);
    llama_reply_fini(&r);
}

#define WRITES(form, stop, listed, text, ...) \
    writes(form, stop, (const uint32_t[]){__VA_ARGS__}, listed, text)

static void a_character_of_two_tokens_is_listed_once(void **state)
{
    static const enum llama_reply_form forms[] = {
        LLAMA_REPLY_BODY, LLAMA_REPLY_MESSAGE, LLAMA_REPLY_EVENTS,
        LLAMA_REPLY_DELTAS};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        WRITES(forms[i], "", "x.xx",
               "a\xc3\xa9"
               "b",
               A, BYTE(0xc3), BYTE(0xa9), B);
        WRITES(forms[i], "", "...x", "\xf0\x9f\x98\x80", BYTE(0xf0), BYTE(0x9f),
               BYTE(0x98), BYTE(0x80));
    }
}

/* The server looks for a lead among the last bytes, whatever follows it. */
static void a_lead_is_waited_for_though_it_is_broken_off(void **state)
{
    (void)state;
    WRITES(LLAMA_REPLY_BODY, "", ".x",
           "\xef\xbf\xbd"
           "a",
           BYTE(0xc3), A);
    WRITES(LLAMA_REPLY_BODY, "", "..x",
           "\xef\xbf\xbd"
           "ab",
           BYTE(0xe2), A, B);
    WRITES(LLAMA_REPLY_BODY, "", ".x",
           "\xef\xbf\xbd"
           "ab",
           BYTE(0xe2), AB);
    WRITES(LLAMA_REPLY_EVENTS, "", "...x",
           "\xef\xbf\xbd"
           "abc",
           BYTE(0xf0), A, B, C);
    WRITES(LLAMA_REPLY_EVENTS, "", "xx",
           "\xef\xbf\xbd"
           "a",
           BYTE(0xa9), A);
}

static void what_ends_within_a_character(void **state)
{
    (void)state;
    WRITES(LLAMA_REPLY_BODY, "", "x.", "a\xef\xbf\xbd", A, BYTE(0xc3));
    WRITES(LLAMA_REPLY_EVENTS, "", "x.", "a", A, BYTE(0xc3));
    WRITES(LLAMA_REPLY_DELTAS, "", "x.", "a", A, BYTE(0xc3));
    WRITES(LLAMA_REPLY_MESSAGE, "", "x.", "a", A, BYTE(0xc3));
    /* Where nothing is left of it, chat gives it as it is. */
    WRITES(LLAMA_REPLY_MESSAGE, "", ".", "\xef\xbf\xbd", BYTE(0xc3));
    /* An end token does not end the character. */
    WRITES(LLAMA_REPLY_BODY, "", "x..", "a\xef\xbf\xbd", A, BYTE(0xc3), END);
}

/* Chat's decoder takes a lead with what goes on for one ill-formed part. */
static void ill_formed_parts_are_cut_as_each_decoder_does(void **state)
{
    (void)state;
    WRITES(LLAMA_REPLY_BODY, "", "..x",
           "\xef\xbf\xbd\xef\xbf\xbd"
           "a",
           BYTE(0xe0), BYTE(0x80), A);
    WRITES(LLAMA_REPLY_MESSAGE, "", "..x",
           "\xef\xbf\xbd"
           "a",
           BYTE(0xe0), BYTE(0x80), A);
    WRITES(LLAMA_REPLY_MESSAGE, "", ".x", "\xef\xbf\xbd\xef\xbf\xbd",
           BYTE(0xc0), BYTE(0x80));
}

static void a_stop_text_ends_before_itself(void **state)
{
    (void)state;
    /* "bc" alone is the tokens ▁ and bc: the last two listed are left out. */
    WRITES(LLAMA_REPLY_BODY, "bc", "x..", "a", A, B, C);
    WRITES(LLAMA_REPLY_BODY, "bc", "xx..", "ab", A, B, B, C);
    WRITES(LLAMA_REPLY_MESSAGE, "bc", "..", "", B, C);
    WRITES(LLAMA_REPLY_EVENTS, "bc", "xxx", "a", A, B, C);
    WRITES(LLAMA_REPLY_DELTAS, "bc", "x..", "a", A, B, C);
    /* The last sends what the two before it held. */
    WRITES(LLAMA_REPLY_DELTAS, "bc", "x..x", "aba", A, B, AB, C);
}

static void what_may_be_a_stop_text_is_held(void **state)
{
    (void)state;
    WRITES(LLAMA_REPLY_BODY, "bc", "xx", "ab", A, B);
    WRITES(LLAMA_REPLY_EVENTS, "bc", "xx", "a", A, B); /* and never sent */
    WRITES(LLAMA_REPLY_EVENTS, "bc", "xxx", "aba", A, B, A);
    WRITES(LLAMA_REPLY_DELTAS, "bc", "x.x", "aba", A, B, A);
    WRITES(LLAMA_REPLY_DELTAS, "bc", "xx", "ba", B, A); /* the first always */
    /* An end token lets go of it. */
    WRITES(LLAMA_REPLY_EVENTS, "bc", "xxx", "ab", A, B, END);
    WRITES(LLAMA_REPLY_DELTAS, "bc", "x.x", "ab", A, B, END);
}

static void an_end_token_is_silent(void **state)
{
    (void)state;
    WRITES(LLAMA_REPLY_BODY, "", "xx", "a", A, END);
    WRITES(LLAMA_REPLY_EVENTS, "", "xx", "a", A, END);
    WRITES(LLAMA_REPLY_DELTAS, "", "x.", "a", A, END);
    WRITES(LLAMA_REPLY_DELTAS, "", "x", "", END);
}

/* No stop text is looked for within a character. */
static void a_stop_text_behind_a_broken_character_is_found_late(void **state)
{
    (void)state;
    WRITES(LLAMA_REPLY_EVENTS, "a", "..x", "\xef\xbf\xbd", BYTE(0xe2), A, C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_of_two_tokens_is_listed_once),
        cmocka_unit_test(a_lead_is_waited_for_though_it_is_broken_off),
        cmocka_unit_test(what_ends_within_a_character),
        cmocka_unit_test(ill_formed_parts_are_cut_as_each_decoder_does),
        cmocka_unit_test(a_stop_text_ends_before_itself),
        cmocka_unit_test(what_may_be_a_stop_text_is_held),
        cmocka_unit_test(an_end_token_is_silent),
        cmocka_unit_test(a_stop_text_behind_a_broken_character_is_found_late),
    };

    return cmocka_run_group_tests(tests, open_vocab, close_vocab);
}
