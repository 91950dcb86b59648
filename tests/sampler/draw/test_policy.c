/*
 * test_policy.c - tests of draw/policy.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/bound.h"
#include "store/sha256.h"

#define HEAD                                                               \
    "assay-policy/v1\nconfidence 95%\nparty auditor\nreveal_within 3600\n" \
    "answer_within 7200\n"
#define REST "stratum rest any draw bad 1%\n"

static struct policy good(const char *text)
{
    struct policy p;
    struct policy_error e;

    if (policy_parse(span_str(text), &p, &e) != PARSE_OK)
        fail_msg("line %u: %s", e.line, e.why);
    return p;
}

static void refused(const char *text, unsigned line, const char *why)
{
    struct policy p;
    struct policy_error e;

    assert_int_equal(policy_parse(span_str(text), &p, &e), PARSE_BAD);
    assert_string_equal(e.why, why);
    assert_int_equal(e.line, line);
}

static void reads_every_form(void **state)
{
    const char *text =
        "# a comment\nassay-policy/v1\n\nconfidence 99.9%\nparty auditor\n"
        "party state-b\nreveal_within 3600\nanswer_within 7200\n"
        "stratum cut incomplete draw all\n"
        "stratum other unknown draw 20\n"
        "stratum small model=stories%20260k draw bad 0.5% at 99%\n"
        "stratum chat api=openai.chat draw bad 2%\n" REST;
    struct policy p = good(text);
    uint8_t hash[32];

    (void)state;
    assert_int_equal(p.confidence_ppm, 999000);
    assert_int_equal(p.n_parties, 2);
    assert_string_equal(p.party[1], "state-b");
    assert_int_equal(p.reveal_within_s, 3600);
    assert_int_equal(p.answer_within_s, 7200);
    assert_int_equal(p.n_strata, 5);
    assert_int_equal(p.stratum[0].size, SIZE_ALL);
    assert_int_equal(p.stratum[1].number, 20);
    assert_string_equal(p.stratum[2].name, "small");
    assert_int_equal(p.stratum[2].share_ppm, 5000);
    assert_int_equal(p.stratum[2].confidence_ppm, 990000);
    assert_int_equal(p.stratum[3].share_ppm, 20000);
    assert_int_equal(p.stratum[3].confidence_ppm, 999000);
    sha256(span_str(text), hash);
    assert_memory_equal(hash, p.sha256, 32);
}

static void the_first_stratum_that_matches_takes_the_unit(void **state)
{
    struct policy p = good(HEAD "stratum cut incomplete draw all\n"
                                "stratum other unknown draw 20\n"
                                "stratum small model=a%20b draw 5\n"
                                "stratum chat api=openai.chat draw 7\n" REST);
    struct policy_facts f = {span_str("m"), span_str("x"), true};

    (void)state;
    assert_int_equal(policy_stratum_of(&p, &f), 4);
    f.api = span_str("openai.chat");
    assert_int_equal(policy_stratum_of(&p, &f), 3);
    f.model = span_str("a b");
    assert_int_equal(policy_stratum_of(&p, &f), 2);
    f.api = span_str("");
    assert_int_equal(policy_stratum_of(&p, &f), 1);
    f.complete = false;
    assert_int_equal(policy_stratum_of(&p, &f), 0);
}

static void sizes_are_capped_and_computed(void **state)
{
    struct policy p = good(HEAD "stratum a incomplete draw all\n"
                                "stratum b unknown draw 20\n" REST);

    (void)state;
    assert_int_equal(policy_sample(&p, 0, 31), 31);
    assert_int_equal(policy_sample(&p, 1, 31), 20);
    assert_int_equal(policy_sample(&p, 1, 19), 19);
    assert_int_equal(policy_sample(&p, 2, 10000), 294);
    assert_int_equal(policy_sample(&p, 2, 1000), 258);
    assert_int_equal(policy_sample(&p, 2, 1), 1);
    assert_int_equal(policy_sample(&p, 2, 0), 0);
}

static void no_party_must_be_said(void **state)
{
    struct policy p =
        good("assay-policy/v1\nconfidence 95%\nparty none\nreveal_within 1\n"
             "answer_within 1\n" REST);

    (void)state;
    assert_int_equal(p.n_parties, 0);
    refused("assay-policy/v1\nconfidence 95%\nreveal_within 1\n", 3,
            "a party is missing, or party none");
    refused("assay-policy/v1\nconfidence 95%\nparty a\nparty none\n", 4,
            "party none stands alone");
    refused("assay-policy/v1\nconfidence 95%\nparty none\nparty a\n", 4,
            "party none stands alone");
}

static void refuses_what_is_out_of_form(void **state)
{
    (void)state;
    refused("", 1, "the last stratum must match any");
    refused("assay-policy/v2\n", 1, "the first line is assay-policy/v1");
    refused(HEAD, 6, "the last stratum must match any");
    refused(HEAD "stratum a unknown draw 1\n", 7,
            "the last stratum must match any");
    refused(HEAD "stratum a any draw 1", 6, "the last line has no LF");
    refused(HEAD "stratum a any  draw 1\n", 6, "words are parted by one space");
    refused(HEAD " stratum a any draw 1\n", 6, "words are parted by one space");
    refused(HEAD "stratum a any draw 1 \n", 6, "words are parted by one space");
    refused(HEAD "stratum a any draw 1\r\n", 6,
            "words are parted by one space");
    refused(HEAD REST "stratum b any draw 1\n", 7,
            "a stratum behind the one that matches any");
    refused(HEAD "stratum a unknown draw 1\nstratum a any draw 1\n", 7,
            "a stratum is named twice");
    refused(HEAD "stratum A any draw 1\n", 6,
            "a stratum is: stratum NAME MATCH draw SIZE");
    refused(HEAD "stratum a some draw 1\n", 6,
            "a match is any, incomplete, unknown, model=TEXT or api=TEXT");
    refused(HEAD "stratum a model= draw 1\n", 6,
            "a match is any, incomplete, unknown, model=TEXT or api=TEXT");
    refused(HEAD "stratum a model=a*b draw 1\n", 6,
            "a match is any, incomplete, unknown, model=TEXT or api=TEXT");
    refused(HEAD "colour blue\n", 6, "only strata may follow");
    refused("assay-policy/v1\nparty a\n", 2, "confidence is missing");
    refused("assay-policy/v1\nconfidence 95%\nparty a\nparty a\n", 4,
            "a party is named twice");
    refused("assay-policy/v1\nconfidence 95%\nparty a\nanswer_within 3\n", 4,
            "reveal_within is missing");
    refused("assay-policy/v1\nconfidence 95%\nparty a\nreveal_within 0\n", 4,
            "a time is a number of seconds, at most a year");
}

static void refuses_every_bad_size(void **state)
{
    static const char *const sizes[] = {"-1",
                                        "01",
                                        "1.5",
                                        "bad",
                                        "bad 0%",
                                        "bad 101%",
                                        "bad 1",
                                        "bad 1.%",
                                        "bad .5%",
                                        "bad 00.5%",
                                        "bad 1%% ",
                                        "bad 1% at",
                                        "bad 1% at 100%",
                                        "bad 1% at 10%",
                                        "bad 0.00001%",
                                        "good 1%",
                                        "bad 1% at 95% x",
                                        "all 3"};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[512];
        struct policy p;
        struct policy_error e;

        snprintf(text, sizeof text, "%sstratum a any draw %s\n", HEAD,
                 sizes[i]);
        assert_int_equal(policy_parse(span_str(text), &p, &e), PARSE_BAD);
        assert_int_equal(e.line, 6);
    }
}

static void refuses_every_bad_confidence(void **state)
{
    static const char *const values[] = {"95",   "100%", "49.9%", "%",  "95%%",
                                         "095%", "9 5%", "1e1%",  ".9%"};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[128];
        struct policy p;
        struct policy_error e;

        snprintf(text, sizeof text, "assay-policy/v1\nconfidence %s\n",
                 values[i]);
        assert_int_equal(policy_parse(span_str(text), &p, &e), PARSE_BAD);
        assert_int_equal(e.line, 2);
    }
}

static void a_percentage_is_written_as_it_is_read(void **state)
{
    static const struct {
        uint32_t ppm;
        const char *text;
    } rows[] = {{0, "0%"},        {1, "0.0001%"},    {9934, "0.9934%"},
                {100000, "10%"},  {125000, "12.5%"}, {999999, "99.9999%"},
                {1000000, "100%"}};
    char text[POLICY_PERCENT];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(policy_percent(rows[i].ppm, text), rows[i].text);
}

static void refuses_more_than_fits(void **state)
{
    static char text[POLICY_MAX + 64] = HEAD;
    size_t n = strlen(text);

    (void)state;
    while (n < POLICY_MAX)
        text[n++] = '\n';
    strcpy(text + n, REST);
    refused(text, 0, "the policy is too long");
    strcpy(text, HEAD);
    for (int i = 0; i <= POLICY_STRATA; i++) {
        n = strlen(text);
        snprintf(text + n, sizeof text - n, "stratum s%d unknown draw 1\n", i);
    }
    refused(text, 6 + POLICY_STRATA, "too many strata");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form),
        cmocka_unit_test(the_first_stratum_that_matches_takes_the_unit),
        cmocka_unit_test(sizes_are_capped_and_computed),
        cmocka_unit_test(no_party_must_be_said),
        cmocka_unit_test(refuses_what_is_out_of_form),
        cmocka_unit_test(refuses_every_bad_size),
        cmocka_unit_test(refuses_every_bad_confidence),
        cmocka_unit_test(a_percentage_is_written_as_it_is_read),
        cmocka_unit_test(refuses_more_than_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
