/*
 * test_record.c - the bytes of a leaf: what is written, what is read back, and
 * every way of breaking the grammar.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "hex.h"
#include "store/exchange.h"
#include "store/kind.h"
#include "store/merkle.h"
#include "store/record.h"

#define HEAD        "assay-rec/v1\ntype reveal\nseq 3\ntime_ns 1764417600123456789\n"
#define REVEAL      HEAD "epoch 1\nparty a%20b\nvalue 00ff\n"
#define COMMIT      "cNYwf8N5KJxa3D7jVJOglajuu6Ol39XwiWoq8TZHm/A="
#define BENT_COMMIT "cNYwf8N5KJxa3D7jVJOglajuu6Ol39XwiWoq8TZH-/A="
#define LINE        "assay-rec/v1\n"
#define DRAW        LINE "type draw\nseq 0\ntime_ns 0\nepoch 1\npart 0\nparts 1\n"
#define UNPARSED                                                        \
    "assay-rec/v1\ntype unparsed\nseq 0\ntime_ns 1\ntap t\ncause tls\n" \
    "client -\nserver -\nstream 0\ncount 1\nbytes 2\nfrom_ns 3\nto_ns 4\n"

/* The example of the record format: 321 bytes and their leaf hash. */
static const char vector[] =
    "assay-rec/v1\ntype request\nseq 17\nunit 17\ntap eth0\nstream 9f1c\n"
    "t_first_ns 1764417600123456789\nt_last_ns 1764417601000000001\n"
    "tenant 3a7bd3e2360a3d29\n"
    "model 5d41402abc4b2a76b9719d911017c592ae1c2b1f0d3d6e3b7c0d1a2b3c4d5e6f\n"
    "req_commit cNYwf8N5KJxa3D7jVJOglajuu6Ol39XwiWoq8TZHm/A=\n"
    "req_len 15\ntokens_in 3\ntokens_out 8\ncomplete 1\n";

static struct span body_of(const struct record *r)
{
    return span_of(r->text, r->n);
}

static void the_vector_has_its_leaf_hash_and_walks(void **state)
{
    struct cursor lines = cursor_of(span_str(vector));
    uint8_t hash[MERKLE_HASH];
    struct field f;
    size_t n = 0;
    bool bad;

    (void)state;
    assert_int_equal(strlen(vector), 321);
    merkle_leaf(span_str(vector), hash);
    assert_hex(
        hash, sizeof(hash),
        "da1c7a5ff7fd7056a45a08960defb75a0fcc0223337c4ce09437902b4e51db6b");
    while (record_next(&lines, &f, &bad))
        n++;
    assert_false(bad);
    assert_int_equal(n, 14);
    assert_true(span_eq_str(record_find(span_str(vector), "tenant"),
                            "3a7bd3e2360a3d29"));
    assert_null(record_find(span_str(vector), "tena").p);
}

static void texts_come_back_as_they_went_in(void **state)
{
    uint8_t all[256];
    char out[1024];
    size_t n;

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    for (size_t from = 0; from < 256; from += 5)
        for (size_t len = 0; len + from <= 256; len += 17) {
            struct span text = span_of(all + from, len), value;
            struct record r;

            record_init(&r);
            record_text(&r, "k", text);
            assert_false(r.full);
            value = record_find(body_of(&r), "k");
            assert_non_null(value.p);
            assert_int_equal(record_parse_text(value, out, sizeof(out), &n),
                             PARSE_OK);
            assert_true(span_eq(span_of(out, n), text));
        }
}

static void a_lone_dash_is_not_the_empty_text(void **state)
{
    struct record r;
    char out[8];
    size_t n;

    (void)state;
    record_init(&r);
    record_text(&r, "a", span_str("-"));
    record_text(&r, "b", span_str(""));
    record_text(&r, "c", span_str("--"));
    record_hex(&r, "d", span_of(NULL, 0));
    assert_true(span_eq_str(body_of(&r), "a %2D\nb -\nc --\nd -\n"));
    assert_int_equal(record_parse_text(span_str("%2D"), out, 8, &n), PARSE_OK);
    assert_int_equal(n, 1);
    assert_int_equal(record_parse_text(span_str("-"), out, 8, &n), PARSE_OK);
    assert_int_equal(n, 0);
}

static void columns_are_written_and_split(void **state)
{
    static const uint8_t digest[] = {0xab, 0xcd};
    struct span part[8];
    struct record r;

    (void)state;
    record_init(&r);
    record_begin(&r, "member");
    record_add_text(&r, span_str("a,b"));
    record_add_u64(&r, 0);
    record_add_hex(&r, span_of(digest, 2));
    record_end(&r);
    assert_true(span_eq_str(body_of(&r), "member a%2Cb,0,abcd\n"));
    assert_int_equal(record_split(record_find(body_of(&r), "member"), part, 8),
                     3);
    assert_true(span_eq_str(part[0], "a%2Cb"));
    assert_true(span_eq_str(part[2], "abcd"));
    assert_int_equal(record_split(span_str("a,,"), part, 8), 3);
    assert_int_equal(record_split(span_str("a,b,c"), part, 2), 2);
}

static void words_of_a_text_are_found(void **state)
{
    static const struct {
        const char *text, *word;
        bool is;
    } cases[] = {
        {"feed neighbours again", "feed", true},
        {"feed neighbours again", "neighbours", true},
        {"feed neighbours again", "again", true},
        {"feed neighbours again", "neighbour", false},
        {"feed neighbours again", "gain", false},
        {"feed neighbours again", "", false},
        {"feed", "feed", true},
        {"feed,again", "again", false},
        {"", "feed", false},
    };
    struct record r;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_init(&r);
        record_text(&r, "k", span_str(cases[i].text));
        assert_int_equal(
            record_has_word(record_find(body_of(&r), "k"), cases[i].word),
            cases[i].is);
    }
    assert_false(record_has_word(record_find(body_of(&r), "none"), "feed"));
}

static void values_have_one_spelling(void **state)
{
    static const char *const bad_u64[] = {"",
                                          "01",
                                          "+1",
                                          "-1",
                                          "1 ",
                                          "a",
                                          "9223372036854775808",
                                          "18446744073709551616",
                                          "00",
                                          "0x1"};
    static const char *const bad_text[] = {
        "", " ", "a b", "%", "%4", "%4g", "%41", "%2d", "a%2D", "\x7f", "a,b"};
    static const char *const bad_hex[] = {"",   "-",   "0",   "0g",
                                          "AB", "abc", "abcd"};
    uint8_t byte[8];
    char out[32];
    uint64_t v;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof bad_u64 / sizeof *bad_u64; i++)
        assert_int_equal(record_parse_u64(span_str(bad_u64[i]), &v), PARSE_BAD);
    for (size_t i = 0; i < sizeof bad_text / sizeof *bad_text; i++)
        assert_int_equal(
            record_parse_text(span_str(bad_text[i]), out, sizeof(out), &n),
            PARSE_BAD);
    for (size_t i = 0; i < sizeof bad_hex / sizeof *bad_hex; i++)
        assert_int_equal(record_parse_hex(span_str(bad_hex[i]), byte, 1),
                         PARSE_BAD);
    assert_int_equal(record_parse_u64(span_str("9223372036854775807"), &v),
                     PARSE_OK);
    assert_true(v == INT64_MAX);
    assert_int_equal(record_parse_hex(span_str("-"), byte, 0), PARSE_OK);
    assert_int_equal(record_parse_text(span_str("abc"), out, 2, &n), PARSE_BAD);
}

static void a_record_that_does_not_fit_says_so(void **state)
{
    static uint8_t zeros[RECORD_BODY_MAX];
    struct record r;

    (void)state;
    record_init(&r);
    record_text(&r, "k", span_of(zeros, sizeof(zeros) / 3));
    assert_true(r.full);
    assert_true(r.n <= sizeof(r.text));
    record_init(&r);
    record_text(&r, "k", span_of(zeros, 10000));
    assert_false(r.full);
}

static void good_leaves_pass(void **state)
{
    static const char *const good[] = {
        REVEAL,
        UNPARSED,
        UNPARSED "sample_commit " COMMIT "\nsample_len 5\n",
        DRAW,
        DRAW "drawn 1,2,ab\ndrawn 2,2,-\n",
    };
    const char *why;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_non_null(record_check(span_str(good[i]), &why));
    assert_ptr_equal(record_check(span_str(REVEAL), &why), kind_find("reveal"));
}

static void broken_leaves_are_refused_with_a_reason(void **state)
{
    static const char *const bad[] = {
        "",
        "assay-rec/v1",
        "assay-rec/v1\n",
        "assay-rec/v2\ntype reveal\n",
        vector, /* a kind that the table does not have */
        HEAD,
        REVEAL "value 00ff\n",
        REVEAL "more 1\n",
        REVEAL "\n",
        REVEAL "no LF",
        HEAD "epoch 1\nparty a\nvalue 00f\n",
        HEAD "epoch 1\nparty a\nvalue 00FF\n",
        HEAD "epoch 01\nparty a\nvalue 00\n",
        HEAD "party a\nepoch 1\nvalue 00\n",
        HEAD "epoch 1\nepoch 1\nparty a\nvalue 00\n",
        HEAD "epoch  1\nparty a\nvalue 00\n",
        HEAD "epoch 1 \nparty a\nvalue 00\n",
        HEAD "epoch 1\r\nparty a\nvalue 00\n",
        HEAD "assay-rec/v1\nepoch 1\nparty a\nvalue 00\n",
        LINE LINE "type reveal\nseq 3\ntime_ns 1\nepoch 1\nparty a\nvalue 00\n",
        LINE "type reveal\ntime_ns 1\nseq 3\nepoch 1\nparty a\nvalue 00\n",
        UNPARSED "sample_len 5\n",
        UNPARSED "sample_commit " COMMIT "\n",
        UNPARSED "sample_commit AAAA\nsample_len 5\n",
        UNPARSED "sample_commit " BENT_COMMIT "\nsample_len 5\n",
        UNPARSED "sample_commit " COMMIT "\nsample_len x\n",
        UNPARSED "other_commit " COMMIT "\nother_len 5\n",
        DRAW "drawn 1,2\n",
        DRAW "drawn 1,2,ab,3\n",
        DRAW "drawn 1,x,ab\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = NULL;

        assert_null(record_check(span_str(bad[i]), &why));
        assert_non_null(why);
    }
}

static void an_exchange_keeps_its_kinds_grammar(void **state)
{
    struct exchange x = {
        .tap = span_str("t0"),
        .source = span_str("file:a b.pcap"),
        .client = span_str("[::1]:8080"),
        .method = span_str("POST"),
        .target = span_str("/v1/x?a=%20&b"),
        .status = 200,
        .complete = true,
        .req = {.first_ns = 5, .last_ns = -1},
    };
    struct record r;
    const char *why;

    (void)state;
    assert_true(exchange_record(&x, &r));
    assert_true(record_check_body(kind_find("exchange"), body_of(&r), &why));
    assert_true(
        span_eq_str(record_find(body_of(&r), "target"), "/v1/x%3Fa=%2520%26b"));
    assert_false(record_check_body(kind_find("loss"), body_of(&r), &why));
    assert_false(record_check_body(kind_find("exchange"),
                                   span_of(r.text, r.n - 1), &why));
}

static void piece(uint8_t *map, uint64_t offset, uint32_t len)
{
    memset(map, 0, EXCHANGE_PIECE_BYTES);
    for (int i = 0; i < 8; i++)
        map[7 - i] = (uint8_t)(offset >> 8 * i);
    for (int i = 0; i < 4; i++)
        map[11 - i] = (uint8_t)(len >> 8 * i);
    map[19] = 9;
}

static void a_body_is_its_pieces_joined(void **state)
{
    uint8_t map[2 * EXCHANGE_PIECE_BYTES], *owned = NULL;
    struct exchange_side side = {.raw = span_str("head3abcX2de"),
                                 .map = span_of(map, sizeof(map))};
    struct span body;
    uint64_t offset;
    int64_t time_ns;
    uint32_t len;

    (void)state;
    piece(map, 5, 3);
    piece(map + EXCHANGE_PIECE_BYTES, 10, 2);
    assert_true(exchange_piece(side.map, 1, &offset, &len, &time_ns));
    assert_int_equal(offset, 10);
    assert_int_equal(len, 2);
    assert_int_equal(time_ns, 9);
    assert_false(exchange_piece(side.map, 2, &offset, &len, &time_ns));
    assert_int_equal(exchange_body(&side, &body, &owned), 0);
    assert_true(span_eq_str(body, "abcde"));
    free(owned);
    side.body = span_str("decoded");
    assert_int_equal(exchange_body(&side, &body, &owned), 0);
    assert_true(span_eq_str(body, "decoded"));
    assert_null(owned);
}

static void a_map_outside_its_bytes_is_refused(void **state)
{
    static const struct {
        uint64_t offset;
        uint32_t len;
    } bad[] = {{10, 3}, {13, 0}, {UINT64_MAX, 1}, {6, 1}, {0, UINT32_MAX}};
    uint8_t map[2 * EXCHANGE_PIECE_BYTES], *owned;
    struct exchange_side side = {.raw = span_str("head3abcX2de"),
                                 .map = span_of(map, sizeof(map))};
    struct span body;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        piece(map, 5, 3);
        piece(map + EXCHANGE_PIECE_BYTES, bad[i].offset, bad[i].len);
        assert_true(exchange_body(&side, &body, &owned) < 0);
    }
    side.map.n--;
    assert_true(exchange_body(&side, &body, &owned) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_has_its_leaf_hash_and_walks),
        cmocka_unit_test(texts_come_back_as_they_went_in),
        cmocka_unit_test(a_lone_dash_is_not_the_empty_text),
        cmocka_unit_test(columns_are_written_and_split),
        cmocka_unit_test(words_of_a_text_are_found),
        cmocka_unit_test(values_have_one_spelling),
        cmocka_unit_test(a_record_that_does_not_fit_says_so),
        cmocka_unit_test(good_leaves_pass),
        cmocka_unit_test(broken_leaves_are_refused_with_a_reason),
        cmocka_unit_test(an_exchange_keeps_its_kinds_grammar),
        cmocka_unit_test(a_body_is_its_pieces_joined),
        cmocka_unit_test(a_map_outside_its_bytes_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
