/*
 * test_llama_text.c - tokenizers of GGUF files and the chat templates that go
 * with them, over the tiny vocabularies of make_llama_text_corpus.py. The ids
 * are those of llama.cpp's own library (peer_llama_text.py asks it).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"
#include "store/dialect.h"

static const struct llama_vocab_options whole = {true, true};
static const struct llama_vocab_options plain = {false, false};

static int open_text(const char *name, struct llama_vocab **ret_t,
                     struct error *error)
{
    char path[512];
    struct gguf *g;
    int err;

    (void)snprintf(path, sizeof path, "%s/%s.gguf", VOCABULARIES, name);
    assert_int_equal(gguf_open(path, &g, error), 0);
    err = llama_vocab_open(g, ret_t, error);
    gguf_close(g); /* only borrowed for the call */
    return err;
}

static struct llama_vocab *opened(const char *name)
{
    struct llama_vocab *t;
    struct error error;

    assert_int_equal(open_text(name, &t, &error), 0);
    return t;
}

/* want: the ids, each after a space. */
static void encodes(const struct llama_vocab *t, struct llama_vocab_options how,
                    const char *text, const char *want)
{
    char got[512] = "";
    uint32_t *ids;
    size_t n, at = 0;

    assert_int_equal(llama_vocab_encode(t, span_str(text), how, &ids, &n), 0);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, " %u", ids[i]);
    free(ids);
    assert_string_equal(got, want);
}

static void pieces_join_by_score_and_fall_back_to_bytes(void **state)
{
    struct llama_vocab *t = opened("spm");

    (void)state;
    encodes(t, whole, "", " 1");
    encodes(t, whole, "abc", " 1 265 264"); /* bc, -6, goes before ab, -7 */
    encodes(t, plain, "ab c", " 259 263 259 262");
    encodes(t, plain, "\xc3\xa9 \xc3\xbc", " 259 267 259 198 191");
    encodes(t, plain, " a", " 259 265");
    llama_vocab_close(t);
    t = opened("spm-bare");
    encodes(t, whole, "abc", " 266");
    encodes(t, whole, "abcabc\n", " 266 266 13");
    llama_vocab_close(t);
    t = opened("spm-around");
    encodes(t, whole, "", " 1 2");
    llama_vocab_close(t);
}

/* A text after a token gets a space of its own. */
static void names_are_tokens_where_they_are_parsed(void **state)
{
    struct llama_vocab *t = opened("spm");

    (void)state;
    encodes(t, whole, "a<s>a", " 1 265 1 265");
    encodes(t, plain, "a<s>a", " 265 63 118 65 260");
    encodes(t, plain, "<mark>bc", " 268 259 264"); /* a user's one, always */
    llama_vocab_close(t);
    t = opened("bpe-llama");
    encodes(t, whole, "<|im_start|>xhello<|im_end|>", " 265 267 259 266");
    llama_vocab_close(t);
}

static void the_pattern_decides_the_words(void **state)
{
    struct llama_vocab *t = opened("bpe-llama");

    (void)state;
    encodes(t, plain, "hello w 1234 \xc3\xa9", " 259 260 220 262 19 220 263");
    encodes(t, whole, "zzz", " 265 264"); /* a whole word needs no merge */
    llama_vocab_close(t);
    t = opened("bpe-smollm");
    encodes(t, whole, "hello w 1234 \xc3\xa9",
            " 259 260 220 16 17 18 19 220 263");
    encodes(t, whole, "zzz", " 89 89 89");
    llama_vocab_close(t);
}

static void is_piece(const struct llama_vocab *t, uint32_t id, const char *want)
{
    assert_true(span_eq_str(llama_vocab_piece(t, id), want));
}

static void pieces_are_the_bytes_on_the_wire(void **state)
{
    struct llama_vocab *t = opened("spm");

    (void)state;
    is_piece(t, 1, "");
    is_piece(t, 3 + 0xe9, "\xe9");
    is_piece(t, 265, " a");
    is_piece(t, 268, "<mark>");
    is_piece(t, 999, "");
    assert_true(span_eq_str(llama_vocab_name(t, 269), "[EMPTY_269]"));
    assert_true(llama_vocab_ends(t, 2));
    assert_false(llama_vocab_ends(t, 1));
    llama_vocab_close(t);
    t = opened("bpe-smollm");
    is_piece(t, 263, "\xc3\xa9");
    is_piece(t, 266, ""); /* a control token by its name */
    assert_true(llama_vocab_ends(t, 266));
    llama_vocab_close(t);
}

static void what_is_not_utf8_is_refused(void **state)
{
    struct llama_vocab *t = opened("spm");
    uint32_t *ids;
    size_t n;

    (void)state;
    assert_int_equal(
        llama_vocab_encode(t, span_of("a\xff", 2), plain, &ids, &n), -EILSEQ);
    llama_vocab_close(t);
}

static void a_bad_file_is_refused_in_words(void **state)
{
    static const char *const rows[][2] = {
        {"bad-model", "\"bert\" is not known"},
        {"bad-pattern", "\"nobody\" is not known"},
        {"bad-twice", "name of an earlier one"},
        {"bad-bytes", "lacks <0xC5>"},
        {"bad-scores", "scores is too short"},
        {"bad-nan", "a NaN"},
        {"bad-kinds", "token_type is too short"},
        {"bad-merge", "merges: row 1"},
        {"bad-pair", "merges: row 0"},
        {"bad-names", "not a list of names"},
        {"bad-first", "not in the vocabulary"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llama_vocab *t;
        struct error error;

        assert_int_equal(open_text(rows[i][0], &t, &error), -EINVAL);
        if (strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], error.text);
    }
}

static void renders(const struct llama_chat *c, const char *roles,
                    const char *want)
{
    struct api_message m[4];
    size_t n = 0, len;
    char *text;

    for (; roles[n] != '\0'; n++)
        m[n] = (struct api_message){span_str(roles[n] == 'u'   ? "user"
                                             : roles[n] == 'a' ? "assistant"
                                             : roles[n] == 'd' ? "developer"
                                                               : "system"),
                                    span_str(n == 0   ? "one"
                                             : n == 1 ? "two "
                                                      : "three")};
    assert_int_equal(llama_chat_render(c, m, n, &text, &len), 0);
    assert_true(span_eq_str(span_of(text, len), want));
    free(text);
}

/* As llama-server b11434's /apply-template answered. */
static void a_model_without_a_template_gets_chatml(void **state)
{
    const struct llama_chat *c = llama_chat_of(span_of(NULL, 0));

    (void)state;
    assert_true(llama_chat_known(c));
    renders(c, "", "<|im_start|>assistant\n");
    renders(c, "du",
            "<|im_start|>system\none<|im_end|>\n<|im_start|>user\ntwo "
            "<|im_end|>\n<|im_start|>assistant\n");
    renders(c, "ua",
            "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\ntwo ");
    renders(c, "uau",
            "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\ntwo "
            "<|im_end|>\n<|im_start|>user\nthree<|im_end|>\n"
            "<|im_start|>assistant\n");
}

static void chatml_is_known_as_the_server_writes_it(void **state)
{
    static const char text[] =
        "{%- for message in messages -%}\n"
        "  {{- '<|im_start|>' + message.role + '\n' + message.content + "
        "'<|im_end|>\n' -}}\n"
        "{%- endfor -%}\n"
        "{%- if add_generation_prompt -%}\n"
        "  {{- '<|im_start|>assistant\n' -}}\n"
        "{%- endif -%}";

    (void)state;
    assert_string_equal(llama_chat_name(llama_chat_of(span_str(text))),
                        "chatml");
}

static void smollm2_has_a_system_of_its_own(void **state)
{
    static const char text[] =
        "{% for message in messages %}{% if loop.first and messages[0]['role'] "
        "!= 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant "
        "named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
        "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
        "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
        "{{ '<|im_start|>assistant\n' }}{% endif %}";
    const struct llama_chat *c = llama_chat_of(span_str(text));

    (void)state;
    assert_string_equal(llama_chat_name(c), "smollm2");
    renders(c, "u",
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, "
            "trained by Hugging Face<|im_end|>\n<|im_start|>user\none<|im_end|>"
            "\n<|im_start|>assistant\n");
    renders(c, "d",
            "<|im_start|>system\none<|im_end|>\n<|im_start|>assistant\n");
    renders(c, "a", "<|im_start|>assistant\none");
}

static void an_unknown_template_renders_nothing(void **state)
{
    const struct llama_chat *c = llama_chat_of(span_str("{{ messages }}"));
    const struct llama_chat *known = llama_chat_of(span_of(NULL, 0));
    const struct api_message two[] = {{span_str("assistant"), span_str("x")},
                                      {span_str("assistant"), span_str("y")}};
    size_t n;
    char *text;

    (void)state;
    assert_false(llama_chat_known(c));
    assert_int_equal(llama_chat_render(c, two, 1, &text, &n), -ENOTSUP);
    assert_int_equal(llama_chat_render(known, two, 2, &text, &n), -ENOTSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_join_by_score_and_fall_back_to_bytes),
        cmocka_unit_test(names_are_tokens_where_they_are_parsed),
        cmocka_unit_test(the_pattern_decides_the_words),
        cmocka_unit_test(pieces_are_the_bytes_on_the_wire),
        cmocka_unit_test(what_is_not_utf8_is_refused),
        cmocka_unit_test(a_bad_file_is_refused_in_words),
        cmocka_unit_test(a_model_without_a_template_gets_chatml),
        cmocka_unit_test(chatml_is_known_as_the_server_writes_it),
        cmocka_unit_test(smollm2_has_a_system_of_its_own),
        cmocka_unit_test(an_unknown_template_renders_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
