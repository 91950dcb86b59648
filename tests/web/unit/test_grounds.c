/*
 * test_grounds.c - what a unit's page says of the grounds of its verdict: level
 * and evidence of a search, words, and what reproduces a mismatch.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define assert_has(a, text)                                      \
    do {                                                         \
        if (strstr((a).body, text) == NULL)                      \
            fail_msg("not on the page: %s\n%s", text, (a).body); \
    } while (0)
#define assert_lacks(a, text) assert_null(strstr((a).body, text))

static struct answer fetch_unit(struct fixture *f, const struct unit_name *u)
{
    char path[80];

    (void)snprintf(path, sizeof path, "/m/%s", u->hex);
    return fetch(&f->site, path);
}

/* A mismatch of an engine that was searched for, and what reproduces it. */
static void mismatch_page_says_what_reproduces_it(void **state)
{
    static const char hash[] =
        "9f02c1aa11223344556677889900aabbccddeeff00112233445566778899aabb";
    struct unit_name unit, other;
    struct fixture f;
    struct answer a;

    (void)state;
    fixture_open(&f, NULL);
    ADD(&f, "manifest", "model", "m", "manifest", hash, "numerics", "ggml",
        "level", "search", "alternative", "q8_0.gguf,12,9f02");
    unit = ADD(&f, "exchange", "model", "m", "complete", "1");
    other = ADD(&f, "exchange", "model", "m", "complete", "1");
    ADD(&f, "verdict", "epoch", "1", "object", unit.hex, "verdict", "MISMATCH",
        "class", "logprob", "route", "search", "level", "search", "manifest",
        hash, "evidence_bits", "41", "forward_runs", "120", "position", "7");
    ADD(&f, "verdict", "epoch", "1", "object", other.hex, "verdict",
        "UNCHECKABLE", "class", "-", "reason", "search_undecided", "level",
        "search", "detail", "the limit on work is reached (step 3)");
    fixture_commit(&f);
    a = fetch_unit(&f, &unit);
    assert_has(a, "At least 41 bits of evidence, after 120 forward "
                  "runs.");
    assert_lacks(a, "Reproduced by");
    assert_has(a, "q8_0.gguf");
    free(a.all);
    ADD(&f, "reproduced", "epoch", "1", "object", unit.hex, "detail",
        "6 alternatives tried");
    fixture_commit(&f);
    a = fetch_unit(&f, &unit);
    assert_has(a, "Reproduced by nothing else that is declared: 6 alternatives "
                  "tried.");
    free(a.all);
    ADD(&f, "reproduced", "epoch", "1", "object", unit.hex, "by",
        "Q8_0 weights, declared BF16", "tokens", "40", "logprobs", "160",
        "evidence_bits", "417");
    fixture_commit(&f);
    a = fetch_unit(&f, &unit);
    assert_has(a, "Reproduced by <b>Q8_0 weights, declared BF16</b>: "
                  "40 tokens and 160 log-probabilities to the bit, at least "
                  "417 bits of evidence. It stays a mismatch.");
    assert_has(a, "MISMATCH logprob");
    free(a.all);
    a = fetch_unit(&f, &other);
    assert_has(a, "In words: the limit on work is reached (step 3).");
    free(a.all);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mismatch_page_says_what_reproduces_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
