/*
 * test_llama_claim_list.c - which answers the search is asked for:
 * stepper/claims.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/stepper/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "store/dialect.h"

/* The token of a byte. */
#define BYTE(b) (3 + (b))

/* What a list says of an answer of one entry with this id and these bytes. */
static const char *doubt_of(const struct llama_vocab *text, uint32_t id,
                            const char *bytes)
{
    struct api_token entry = {.chosen = {.id = id,
                                         .bytes = span_str(bytes),
                                         .has_bytes = true,
                                         .has_logprob = true}};
    struct api_choice choice = {.tokens = &entry,
                                .n_tokens = 1,
                                .has_ids = true,
                                .has_logprobs = true,
                                .finish = span_str("length")};
    const uint32_t prompt[] = {1};
    const struct claim_llama claim = {
        .choice = &choice, .prompt = prompt, .n_prompt = 1};
    const struct claim_limits limits = {llama_vocab_size(text), 64, text};
    struct claim_list list;
    const char *why;

    assert_int_equal(claim_list_init(&list, &claim, 1, &limits), 0);
    why = list.list[0].why;
    claim_list_fini(&list);
    return why;
}

/* U+00E9 is two bytes, and a token each: the second is listed with both. */
static void ids_hidden_in_a_character_are_not_searched_for(void **state)
{
    struct llama_vocab *text;
    struct error error;
    struct gguf *g;

    (void)state;
    assert_int_equal(gguf_open(VOCABULARIES "/spm.gguf", &g, &error), 0);
    assert_int_equal(llama_vocab_open(g, &text, &error), 0);
    gguf_close(g);
    assert_null(doubt_of(text, BYTE(0xa9), "\xa9"));
    assert_non_null(doubt_of(text, BYTE(0xa9), "\xc3\xa9"));
    llama_vocab_close(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_hidden_in_a_character_are_not_searched_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
