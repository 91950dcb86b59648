/*
 * test_batch_step.c - batch-feed messages: reading, splitting into records.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "feed/batch_step.h"
#include "store/kind.h"
#include "store/record.h"

static const char whole[] =
    "{\"assay\":\"batch-step/1\",\"engine\":\"e0\",\"feed\":\"7f3a\","
    "\"seq\":17,\"step\":41,\"time_ns\":\"1764417600123456789\",\"padded\":8,"
    "\"members\":[{\"id\":\"cmpl-1\",\"choice\":0,\"start\":0,\"n\":12,"
    "\"cached\":0,\"prompt\":[1,403,407],\"params\":{\"seed\":7}},"
    "{\"id\":\"chatcmpl-2\",\"choice\":1,\"start\":57,\"n\":1,\"cached\":0}],"
    "\"ops\":[\"R 0 5\"]}";

static void reads_every_key(void **state)
{
    /* SHA-256 of 00000001 00000193 00000197, by sha256sum. */
    static const uint8_t digest[4] = {0x7c, 0x54, 0x34, 0x98};
    struct batch_step s;
    const char *why;

    (void)state;
    assert_int_equal(batch_step_read(span_str(whole), &s, &why), PARSE_OK);
    assert_true(span_eq_str(s.engine, "e0") && span_eq_str(s.feed, "7f3a"));
    assert_true(span_eq_str(s.names, "answers"));
    assert_int_equal(s.seq, 17);
    assert_int_equal(s.step, 41);
    assert_int_equal(s.time_ns, 1764417600123456789);
    assert_int_equal(s.padded, 8);
    assert_int_equal(s.n_members, 2);
    assert_true(span_eq_str(s.members[1].id, "chatcmpl-2"));
    assert_int_equal(s.members[1].start, 57);
    assert_int_equal(s.members[0].prompt_n, 3);
    assert_memory_equal(s.members[0].digest, digest, sizeof digest);
    assert_false(s.members[1].has_digest);
    assert_int_equal(s.n_ops, 1);
    batch_step_free(&s);
}

/* `whole` with one text in place of another. */
static const char *with(const char *from, const char *to)
{
    static char text[4096];
    const char *at = strstr(whole, from);

    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, to,
                   at + strlen(from));
    return text;
}

static void refuses_what_is_not_the_format(void **state)
{
    const char *const cases[][2] = {
        {"batch-step/1", "batch-step/2"},
        {"\"engine\":\"e0\",", ""},
        {"\"engine\":\"e0\"", "\"engine\":\"\""},
        {"\"feed\":\"7f3a\"", "\"feed\":7"},
        {"\"seq\":17", "\"names\":\"slots\",\"seq\":17"},
        {"\"seq\":17", "\"names\":\"\",\"seq\":17"},
        {"\"seq\":17", "\"names\":null,\"seq\":17"},
        {"\"seq\":17", "\"seq\":-1"},
        {"\"seq\":17", "\"seq\":1.0"},
        {"\"seq\":17", "\"seq\":17,\"seq\":18"},
        {"\"seq\":17", "\"sequence\":17"},
        {"\"step\":41", "\"step\":\"41\""},
        {"\"1764417600123456789\"", "1764417600"},
        {"\"1764417600123456789\"", "\"0123\""},
        {"\"padded\":8", "\"padded\":null"},
        {"\"members\":[", "\"members\":[7,"},
        {"\"start\":0,", ""},
        {"\"n\":12", "\"n\":12,\"more\":1"},
        {"\"n\":12", "\"n\":2,\"ids\":[5]"},
        {"\"n\":12", "\"n\":1,\"ids\":[-5]"},
        {"\"n\":12", "\"n\":1,\"ids\":5"},
        {"[1,403,407]", "[1,-2]"},
        {"[1,403,407]", "[1,4294967296]"},
        {"[1,403,407]", "[1,\"2\"]"},
        {"[1,403,407]", "\"text\""},
        {"[1,403,407]", "[1],\"prompt_n\":1"},
        {"\"prompt\":[1,403,407]", "\"prompt_digest\":\"00\",\"prompt_n\":1"},
        {"\"prompt\":[1,403,407]", "\"prompt_n\":3"},
        {"{\"seed\":7}", "[7]"},
        {"[\"R 0 5\"]", "\"R 0 5\""},
        {"[\"R 0 5\"]", "[5]"},
        {"]}", "]"},
        {"]}", "]} x"},
        {"cmpl-1", "\xff"},
    };
    struct batch_step s;
    const char *why = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = with(cases[i][0], cases[i][1]);

        if (batch_step_read(span_str(text), &s, &why) != PARSE_BAD)
            fail_msg("accepted: %s", text);
        assert_non_null(why);
        batch_step_free(&s);
    }
}

static void record_says_whose_ids_the_members_carry(void **state)
{
    const char *const cases[][2] = {
        {"\"seq\":17", "answers"},
        {"\"names\":\"answers\",\"seq\":17", "answers"},
        {"\"names\":\"engine\",\"seq\":17", "engine"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct span text = span_str(with("\"seq\":17", cases[i][0]));
        struct batch_step s;
        struct record r;
        const char *why;

        assert_int_equal(batch_step_read(text, &s, &why), PARSE_OK);
        batch_step_record(&s, span_str("t"), 1, 1, &r);
        assert_true(span_eq_str(record_find(span_of(r.text, r.n), "names"),
                                cases[i][1]));
        batch_step_free(&s);
    }
}

static void takes_a_digest_for_the_prompt(void **state)
{
    struct batch_step s;
    const char *why;
    const char *text =
        with("\"prompt\":[1,403,407]", "\"prompt_digest\":\""
                                       "000102030405060708090a0b0c0d0e0f"
                                       "101112131415161718191a1b1c1d1e1f\","
                                       "\"prompt_n\":9");

    (void)state;
    assert_int_equal(batch_step_read(span_str(text), &s, &why), PARSE_OK);
    assert_int_equal(s.members[0].prompt_n, 9);
    assert_int_equal(s.members[0].digest[31], 0x1f);
    batch_step_free(&s);
}

static char *many(size_t n)
{
    size_t size = n * 160 + 400, at;
    char *text = malloc(size);

    assert_non_null(text);
    at = (size_t)snprintf(text, size,
                          "{\"assay\":\"batch-step/1\",\"engine\":\"e\","
                          "\"feed\":\"f\",\"seq\":0,\"step\":0,"
                          "\"time_ns\":\"1\",\"padded\":0,\"members\":[");
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(
            text + at, size - at,
            "%s{\"id\":\"%%%064zu\",\"choice\":0,\"start\":%zu,"
            "\"n\":1,\"cached\":0}",
            i == 0 ? "" : ",", i, i);
    (void)snprintf(text + at, size - at, "],\"ops\":[\"R 1 2\"]}");
    return text;
}

/* Every member and operation once, in order, each part a valid body. */
static void splits_what_does_not_fit_one_record(void **state)
{
    char *text = many(2000);
    struct span tap = span_str("tap0");
    struct record *r = malloc(sizeof *r);
    struct batch_step s;
    const char *why;
    size_t parts, members = 0, ops = 0;

    (void)state;
    assert_non_null(r);
    assert_int_equal(batch_step_read(span_str(text), &s, &why), PARSE_OK);
    parts = batch_step_parts(&s, tap);
    assert_true(parts > 5);
    for (size_t part = 1; part <= parts; part++) {
        struct cursor lines;
        struct field f;
        bool bad;

        batch_step_record(&s, tap, part, parts, r);
        assert_false(r->full);
        assert_true(record_check_body(kind_find("batch_step"),
                                      span_of(r->text, r->n), &why));
        lines = cursor_of(span_of(r->text, r->n));
        while (record_next(&lines, &f, &bad)) {
            struct span column[8];
            uint64_t start;

            ops += span_eq_str(f.key, "op");
            if (!span_eq_str(f.key, "member"))
                continue;
            assert_int_equal(record_split(f.value, column, 8), 7);
            assert_int_equal(record_parse_u64(column[2], &start), PARSE_OK);
            assert_int_equal(start, members++);
        }
        assert_false(bad);
    }
    assert_int_equal(members, 2000);
    assert_int_equal(ops, 1);
    batch_step_free(&s);
    free(r);
    free(text);
}

/* ---- order */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(refuses_what_is_not_the_format),
        cmocka_unit_test(record_says_whose_ids_the_members_carry),
        cmocka_unit_test(takes_a_digest_for_the_prompt),
        cmocka_unit_test(splits_what_does_not_fit_one_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
