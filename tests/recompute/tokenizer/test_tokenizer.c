/*
 * test_tokenizer.c - small tokenizer.json files: what each stage does, and
 * that what is not done is refused in words. Equality with the peer over real
 * models is peer_tokenizer.py.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/tokenizer.h"

#define VOCAB                                                    \
    "\"vocab\":{\"<unk>\":0,\"<s>\":1,\"a\":2,\"b\":3,\"ab\":4," \
    "\"abb\":5,\"\u2581\":6,\"<0xE2>\":7,\"<0x82>\":8,"          \
    "\"<0xAC>\":9,\" \":10}"
#define MODEL_REST                               \
    "\"unk_token\":\"<unk>\",\"fuse_unk\":true," \
    "\"byte_fallback\":true," VOCAB
#define MERGES "\"merges\":[[\"a\",\"b\"],\"ab b\"]"
#define BPE    "\"model\":{\"type\":\"BPE\"," MODEL_REST "," MERGES "}"

static struct tokenizer *open_form(const char *form)
{
    struct error error = {""};
    struct tokenizer *t;
    int err = tokenizer_parse(span_str(form), &t, &error);

    if (err != 0)
        fail_msg("%s", error.text);
    return t;
}

/* Ids as a text, separated by spaces. */
static void expect(const char *form, const char *text, const char *ids)
{
    struct tokenizer *t = open_form(form);
    char got[256] = "";
    uint32_t *v;
    size_t n, at = 0;

    assert_int_equal(tokenizer_encode(t, span_str(text), true, &v, &n), 0);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, i == 0 ? "%u" : " %u",
                               v[i]);
    assert_string_equal(got, ids);
    free(v);
    tokenizer_close(t);
}

static void refused(const char *form, const char *words)
{
    struct error error = {""};
    struct tokenizer *t;

    assert_int_equal(tokenizer_parse(span_str(form), &t, &error), -EINVAL);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, error.text);
}

static void joins_by_rank_then_from_the_left(void **state)
{
    (void)state;
    expect("{" BPE "}", "abb", "5");
    expect("{" BPE "}", "aabab", "2 4 4");
    expect("{" BPE "}", "", "");
}

static void unknown_characters_become_bytes_or_unk(void **state)
{
    (void)state;
    expect("{" BPE "}", "a\u20ac", "2 7 8 9");
    expect("{" BPE "}", "axyb", "2 0 3");
    expect("{\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\"," VOCAB
           "," MERGES "}}",
           "axyb", "2 0 0 3");
    expect("{\"model\":{\"type\":\"BPE\"," VOCAB "," MERGES "}}", "axyb", "4");
}

#define TOKEN(id, content, flags) \
    "{\"id\":" id ",\"content\":\"" content "\"," flags "}"
#define PLAIN                                                  \
    "\"single_word\":false,\"lstrip\":false,\"rstrip\":false," \
    "\"normalized\":false,\"special\":true"

static void added_tokens_are_cut_out_first_and_longest(void **state)
{
    (void)state;
    expect("{\"added_tokens\":[" TOKEN("1", "<s>", PLAIN) "," TOKEN(
               "11", "<s>a", PLAIN) "]," BPE "}",
           "b<s>ab<s>", "3 11 3 1");
    expect(
        "{\"added_tokens\":[" TOKEN(
            "11", "X",
            "\"single_word\":true,\"lstrip\":true,"
            "\"rstrip\":true,\"normalized\":false,\"special\":false") "]," BPE
                                                                      "}",
        "a X b", "2 11 3");
    expect(
        "{\"added_tokens\":[" TOKEN(
            "11", "X",
            "\"single_word\":true,\"lstrip\":false,"
            "\"rstrip\":false,\"normalized\":false,\"special\":false") "]," BPE
                                                                       "}",
        "aX X", "2 0 10 11");
}

static void normalizer_and_template_put_their_parts(void **state)
{
    (void)state;
    expect("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["
           "{\"type\":\"Prepend\",\"prepend\":\"\u2581\"},{\"type\":"
           "\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":"
           "\"\u2581\"}]},\"post_processor\":{\"type\":"
           "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
           "\"<s>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\","
           "\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<s>\":{"
           "\"id\":\"<s>\",\"ids\":[1],\"tokens\":[\"<s>\"]}}}," BPE "}",
           "a b", "1 6 2 6 3");
}

static void bytes_of_tokens_are_exact(void **state)
{
    struct tokenizer *t = open_form("{\"added_tokens\":[" TOKEN(
        "1", "<s>",
        PLAIN) "],\"decoder\":{"
               "\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
               "\"pattern\":{\"String\":\"\u2581\"},\"content\":\" "
               "\"},{\"type\":"
               "\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\","
               "\"content\":\" \",\"start\":1,\"stop\":0}]}," BPE "}");
    const uint32_t ids[] = {1, 6, 2, 7, 8, 9, 7, 6};
    char *text;
    size_t n;

    (void)state;
    assert_true(span_eq(tokenizer_bytes(t, 7), span_of("\xe2", 1)));
    assert_true(span_eq(tokenizer_bytes(t, 6), span_str(" ")));
    assert_int_equal(tokenizer_bytes(t, 99).n, 0);
    assert_true(tokenizer_is_special(t, 1));
    assert_false(tokenizer_is_special(t, 2));
    assert_int_not_equal(tokenizer_bytes(t, 10).n, 0);
    assert_int_equal(tokenizer_bytes(t, 11).n, 0);
    /* A broken run of bytes is U+FFFD for each of them. */
    assert_int_equal(
        tokenizer_decode(t, (struct token_run){ids, 8}, true, &text, &n), 0);
    assert_string_equal(text, "a\ufffd\ufffd\ufffd\ufffd ");
    free(text);
    assert_int_equal(
        tokenizer_decode(t, (struct token_run){ids, 6}, false, &text, &n), 0);
    assert_string_equal(text, "<s> a\u20ac");
    free(text);
    tokenizer_close(t);
}

static void ill_formed_text_is_refused(void **state)
{
    struct tokenizer *t = open_form("{" BPE "}");
    uint32_t *ids;
    size_t n;

    (void)state;
    assert_int_equal(tokenizer_encode(t, span_of("a\xff", 2), true, &ids, &n),
                     -EILSEQ);
    tokenizer_close(t);
}

static void what_is_not_done_is_refused_in_words(void **state)
{
    (void)state;
    refused("[]", "not an object");
    refused("{\"model\":{}}", "is not BPE");
    refused("{\"extra\":1," BPE "}", "\"extra\" is not known");
    refused("{\"truncation\":{}," BPE "}", "truncation");
    refused("{\"normalizer\":{\"type\":\"NFC\"}," BPE "}",
            "normalizer \"NFC\" is not supported");
    refused("{\"pre_tokenizer\":{\"type\":\"Whitespace\"}," BPE "}",
            "pre_tokenizer \"Whitespace\" is not supported");
    refused("{\"decoder\":{\"type\":\"CTC\"}," BPE "}",
            "decoder \"CTC\" is not supported");
    refused("{\"model\":{\"type\":\"BPE\",\"dropout\":0.1," MODEL_REST
            "," MERGES "}}",
            "random");
    refused("{\"model\":{\"type\":\"BPE\"," MODEL_REST
            ",\"merges\":[\"a z\"]}}",
            "row 0 is not in the vocabulary");
    refused("{\"model\":{\"type\":\"BPE\"," MODEL_REST
            ",\"merges\":[\"a b c\"]}}",
            "row 0 is not a pair");
    refused("{\"model\":{\"type\":\"WordPiece\"}}", "is not BPE");
    refused("{\"added_tokens\":[" TOKEN("5", "<s>", PLAIN) "]," BPE "}",
            "id 5 would be read as 1");
}

static void refuse_pattern(const char *regex, const char *words)
{
    char form[1024];

    (void)snprintf(form, sizeof form,
                   "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{"
                   "\"Regex\":\"%s\"},\"behavior\":\"Isolated\",\"invert\":"
                   "false}," BPE "}",
                   regex);
    refused(form, words);
}

static void patterns_that_mean_something_else_are_refused(void **state)
{
    (void)state;
    refuse_pattern("[a&&b]", "intersection");
    refuse_pattern("[a[b]]", "class within a class");
    refuse_pattern("\\\\h", "escape");
    refuse_pattern("(a)\\\\1", "escape");
    refuse_pattern("(?m:a)", "group");
    refuse_pattern("a{,3}", "brace");
    refuse_pattern("a{2}+", "interval");
    refuse_pattern("\\\\p{Han}", "property");
    refuse_pattern("[\\\\P{L}]", "negated property");
    refuse_pattern("[a", "unclosed class");
    refuse_pattern("a*", "matches nothing");
    refuse_pattern("(a", "malformed");
}

/* A quadratic joiner would need 10^10 steps here. */
static void long_words_take_no_square_of_their_length(void **state)
{
    struct tokenizer *t = open_form("{" BPE "}");
    size_t n = 400000, got;
    char *text = malloc(n);
    uint32_t *ids;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        text[i] = "ab"[i % 2];
    assert_int_equal(tokenizer_encode(t, span_of(text, n), false, &ids, &got),
                     0);
    assert_int_equal(got, n / 2);
    free(ids);
    free(text);
    tokenizer_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_by_rank_then_from_the_left),
        cmocka_unit_test(unknown_characters_become_bytes_or_unk),
        cmocka_unit_test(added_tokens_are_cut_out_first_and_longest),
        cmocka_unit_test(normalizer_and_template_put_their_parts),
        cmocka_unit_test(bytes_of_tokens_are_exact),
        cmocka_unit_test(ill_formed_text_is_refused),
        cmocka_unit_test(what_is_not_done_is_refused_in_words),
        cmocka_unit_test(patterns_that_mean_something_else_are_refused),
        cmocka_unit_test(long_words_take_no_square_of_their_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
