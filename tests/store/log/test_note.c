/*
 * test_note.c - signed notes, checkpoints and cosignatures against published
 * vectors (C2SP signed-note, RFC 8032 keys) and against bent copies of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "hex.h"
#include "store/base64.h"
#include "store/note.h"

#define DASH "\xe2\x80\x94 "
#define EXAMPLE_VKEY \
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
#define EXAMPLE_TEXT "This is an example message.\n"
#define EXAMPLE_LINE                                                           \
    DASH "example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7" \
         "Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
#define EXAMPLE EXAMPLE_TEXT "\n" EXAMPLE_LINE

#define LOG_NAME "certifier.example/unit-0001"
#define LOG_VKEY \
    LOG_NAME "+29df225c+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"
#define WITNESS_VKEY \
    "witness.example/w1+04d2d833+BD1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM"
#define LOG_TEXT LOG_NAME "\n7\n3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSnTIw=\n"
#define LOG_LINE                                                              \
    DASH LOG_NAME " Kd8iXLFgNU22I00/enxRkQzy/uDwLw6x7VozfIRRmZOEfBWU/nFPyc/3" \
                  "Y7t9MjoLtNGNK946uj5uvmH9bwWul0/GVAk=\n"
#define WITNESS_LINE                                                           \
    DASH                                                                       \
        "witness.example/w1 BNLYMwAAAABpKuBAN1wJ2gBtl5p1BGBK/ruGo+Plaay5h9XbV" \
        "NZgwFi890CHIPrT5zjldVlCYB1mMGiWKsoPh064p0EbH3EgmWUADQ==\n"
#define ECDSA_VKEY                                                             \
    LOG_NAME "+5a7a78cc+AjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGD+1LolWp0xyWHrd" \
             "MY1bWjASbiSO2H6bOZpYi5g8p+2eQP+EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PC" \
             "lNRGIpk="

static struct note_key key_of(const char *vkey)
{
    struct note_key k;

    assert_int_equal(note_key_parse(span_str(vkey), &k), PARSE_OK);
    return k;
}

static enum note_result open_with(const char *note, const char *vkey)
{
    struct note_key k = key_of(vkey);
    struct note_seals seals;
    struct span text;

    return note_open(span_str(note), &k, 1, &text, &seals);
}

static void keys_print_as_they_were_read(void **state)
{
    static const char *const vkeys[] = {EXAMPLE_VKEY, LOG_VKEY, WITNESS_VKEY,
                                        ECDSA_VKEY};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct note_key k = key_of(vkeys[i]);
        char text[NOTE_VKEY];

        note_key_print(&k, text);
        assert_string_equal(text, vkeys[i]);
    }
}

static void refuses_bent_keys(void **state)
{
    static const char *const bad[] = {
        "",
        "example.com/foo",
        "example.com/foo+530d903a",
        "example.com/foo+530d903b+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2"
        "k",
        "example.com/fop+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2"
        "k",
        "example.com/foo+530D903A+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2"
        "k",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2"
        "k=",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U"
        "==",
        "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "exam ple+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
    };
    struct note_key k;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(note_key_parse(span_str(bad[i]), &k), PARSE_BAD);
}

static void opens_the_published_note(void **state)
{
    struct note_key k = key_of(EXAMPLE_VKEY);
    struct note_seals seals;
    struct span text;

    (void)state;
    assert_int_equal(note_open(span_str(EXAMPLE), &k, 1, &text, &seals),
                     NOTE_GOOD);
    assert_true(span_eq_str(text, EXAMPLE_TEXT));
    assert_int_equal(seals.n, 1);
    assert_int_equal(seals.seal[0].key, 0);
}

static void a_known_key_that_fails_rejects_the_note(void **state)
{
    (void)state;
    assert_int_equal(
        open_with("This is an example messagE.\n\n" EXAMPLE_LINE, EXAMPLE_VKEY),
        NOTE_FORGED);
    assert_int_equal(open_with(LOG_TEXT "\n" LOG_LINE WITNESS_LINE, LOG_VKEY),
                     NOTE_GOOD);
    assert_int_equal(open_with(LOG_NAME
                               "\n8\n3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSn"
                               "TIw=\n\n" LOG_LINE WITNESS_LINE,
                               WITNESS_VKEY),
                     NOTE_FORGED);
}

static void a_note_without_a_known_key_is_unsigned(void **state)
{
    struct note_seals seals;
    struct span text;

    (void)state;
    assert_int_equal(open_with(EXAMPLE, LOG_VKEY), NOTE_UNSIGNED);
    assert_int_equal(note_open(span_str(EXAMPLE), NULL, 0, &text, &seals),
                     NOTE_UNSIGNED);
}

static void refuses_what_is_no_note(void **state)
{
    static const char *const bad[] = {
        "",
        "\n\n",
        EXAMPLE_TEXT,
        EXAMPLE_TEXT "\n",
        EXAMPLE_TEXT EXAMPLE_LINE,
        EXAMPLE "\n",
        "bell \a\n\n" EXAMPLE_LINE,
        "not utf-8 \xc0\xaf\n\n" EXAMPLE_LINE,
        "cut utf-8 \xe2\x80\n\n" EXAMPLE_LINE,
        "surrogate \xed\xa0\x80\n\n" EXAMPLE_LINE,
        "carriage return\r\n\n" EXAMPLE_LINE,
        EXAMPLE_TEXT "\n" DASH "example.com/foo AAAA\n" EXAMPLE_LINE,
        EXAMPLE_TEXT "\n" DASH "example.com/foo AAAAAAA\n" EXAMPLE_LINE,
        EXAMPLE_TEXT "\n" DASH "a+b AAAAAAAA\n" EXAMPLE_LINE,
        EXAMPLE_TEXT "\n" DASH " AAAAAAAA\n" EXAMPLE_LINE,
        EXAMPLE_TEXT "\n- example.com/foo AAAAAAAA\n" EXAMPLE_LINE,
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(open_with(bad[i], EXAMPLE_VKEY), NOTE_MALFORMED);
}

static void unknown_signatures_are_passed_over(void **state)
{
    char note[8192] = EXAMPLE_TEXT "\n";

    (void)state;
    for (int i = 0; i < 40; i++)
        snprintf(note + strlen(note), sizeof(note) - strlen(note),
                 DASH "other.example/%d AAAAAAAAAA==\n", i);
    strcat(note, EXAMPLE_LINE);
    assert_int_equal(open_with(note, EXAMPLE_VKEY), NOTE_GOOD);
}

static void the_text_ends_at_the_last_empty_line(void **state)
{
    static const uint8_t seed[32] = {7};
    static const char text[] = "one\n\ntwo\n\nthree\n";
    struct note_seals seals;
    struct note_signer *s;
    struct span opened;
    char note[1024];

    (void)state;
    assert_int_equal(note_signer_open("a.example/log", seed, &s), 0);
    assert_int_equal(note_sign(s, span_str(text), note, sizeof(note)), 0);
    assert_int_equal(
        note_open(span_str(note), note_signer_key(s), 1, &opened, &seals),
        NOTE_GOOD);
    assert_true(span_eq_str(opened, text));
    assert_int_equal(note_sign(s, span_str("no LF"), note, sizeof(note)),
                     -EINVAL);
    assert_int_equal(note_sign(s, span_str(text), note, 40), -ENOBUFS);
    note_signer_close(s);
    assert_int_equal(note_signer_open("a b", seed, &s), -EINVAL);
    assert_int_equal(note_signer_open("a\xc2\xa0z", seed, &s), -EINVAL);
    assert_int_equal(note_signer_open("a\xe3\x80\x80", seed, &s), -EINVAL);
    assert_int_equal(note_signer_open("\xc3\xa9t\xc3\xa9", seed, &s), 0);
    note_signer_close(s);
}

static void signs_the_checkpoint_of_the_vector(void **state)
{
    struct checkpoint c = {.origin = LOG_NAME, .head = {.size = 7}};
    char text[512], note[1024], vkey[NOTE_VKEY];
    struct note_signer *s;
    uint8_t seed[32];

    (void)state;
    from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
             seed);
    from_hex("ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
             c.head.root);
    assert_int_equal(note_signer_open(LOG_NAME, seed, &s), 0);
    note_key_print(note_signer_key(s), vkey);
    assert_string_equal(vkey, LOG_VKEY);
    assert_int_equal(checkpoint_print(&c, text, sizeof(text)), 0);
    assert_string_equal(text, LOG_TEXT);
    assert_int_equal(note_sign(s, span_str(text), note, sizeof(note)), 0);
    assert_string_equal(note, LOG_TEXT "\n" LOG_LINE);
    note_signer_close(s);
}

static void verifies_the_cosignature_of_the_vector(void **state)
{
    struct note_key keys[2] = {key_of(LOG_VKEY), key_of(WITNESS_VKEY)};
    struct note_seals seals;
    struct checkpoint c;
    struct span text;

    (void)state;
    assert_int_equal(note_open(span_str(LOG_TEXT "\n" LOG_LINE WITNESS_LINE),
                               keys, 2, &text, &seals),
                     NOTE_GOOD);
    assert_int_equal(seals.n, 2);
    assert_int_equal(seals.seal[0].key, 0);
    assert_int_equal(seals.seal[0].time_s, 0);
    assert_int_equal(seals.seal[1].key, 1);
    assert_int_equal(seals.seal[1].time_s, 1764417600);
    assert_int_equal(checkpoint_parse(text, &c), PARSE_OK);
    assert_string_equal(c.origin, LOG_NAME);
    assert_int_equal(c.head.size, 7);
    assert_hex(
        c.head.root, MERKLE_HASH,
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c");
}

/* Signs text as an ECDSA note key would, with a new key. */
static void ecdsa_note(const char *text, char *ret_vkey, char *ret_note)
{
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    unsigned char *der = NULL;
    uint8_t blob[4 + 128], public_key[1 + 128] = {NOTE_ECDSA}, id[32];
    char base64[256];
    size_t n = 128;
    int der_n = i2d_PUBKEY(pair, &der);

    assert_true(der_n > 0 && der_n <= 128);
    memcpy(public_key + 1, der, (size_t)der_n);
    assert_int_equal(
        EVP_Digest(der, (size_t)der_n, id, NULL, EVP_sha256(), NULL), 1);
    base64_encode(span_of(public_key, 1 + (size_t)der_n), base64);
    sprintf(ret_vkey, "e.example+%02x%02x%02x%02x+%s", id[0], id[1], id[2],
            id[3], base64);
    memcpy(blob, id, 4);
    assert_int_equal(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, pair),
                     1);
    assert_int_equal(EVP_DigestSign(ctx, blob + 4, &n,
                                    (const unsigned char *)text, strlen(text)),
                     1);
    base64_encode(span_of(blob, 4 + n), base64);
    sprintf(ret_note, "%s\n" DASH "e.example %s\n", text, base64);
    OPENSSL_free(der);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pair);
}

static void verifies_ecdsa_and_refuses_a_bent_text(void **state)
{
    char vkey[512], note[1024];

    (void)state;
    ecdsa_note(LOG_TEXT, vkey, note);
    assert_int_equal(open_with(note, vkey), NOTE_GOOD);
    note[strlen(LOG_NAME) + 1] = '8';
    assert_int_equal(open_with(note, vkey), NOTE_FORGED);
}

#define ROOT "3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSnTIw="

static void refuses_bent_checkpoints(void **state)
{
    static const char *const bad[] = {
        "",
        "\n7\n" ROOT "\n",
        "a\n07\n" ROOT "\n",
        "a\n-7\n" ROOT "\n",
        "a\n7 \n" ROOT "\n",
        "a\n99999999999999999999\n" ROOT "\n",
        "a\n7\n3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSnTIx=\n",
        "a\n7\n3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSn\n",
        "a\n7\n" ROOT,
        "a\n7\n" ROOT "\n\n",
        "a\n7\n" ROOT "\nextension",
    };
    struct checkpoint c;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(checkpoint_parse(span_str(bad[i]), &c), PARSE_BAD);
    assert_int_equal(checkpoint_parse(span_str(LOG_TEXT "extension\n"), &c),
                     PARSE_OK);
}

static void base64_is_read_strictly(void **state)
{
    static const char *const bad[] = {
        "A",    "AA",   "AAA",  "AA=A", "AA==AAAA", "AB==", "AAB=",
        "A===", "====", "AA =", "AA-_", "AAAA\n",   "AAAAA"};
    uint8_t out[16];
    char text[32];
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(base64_decode(span_str(bad[i]), out, sizeof(out), &n),
                         PARSE_BAD);
    for (size_t len = 0; len < 10; len++) {
        base64_encode(span_str(&"abcdefghi"[9 - len]), text);
        assert_int_equal(strlen(text), base64_len(len));
        assert_int_equal(base64_decode(span_str(text), out, len, &n), PARSE_OK);
        assert_true(span_eq_str(span_of(out, n), &"abcdefghi"[9 - len]));
        if (len != 0)
            assert_int_equal(base64_decode(span_str(text), out, len - 1, &n),
                             PARSE_BAD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_print_as_they_were_read),
        cmocka_unit_test(refuses_bent_keys),
        cmocka_unit_test(opens_the_published_note),
        cmocka_unit_test(a_known_key_that_fails_rejects_the_note),
        cmocka_unit_test(a_note_without_a_known_key_is_unsigned),
        cmocka_unit_test(refuses_what_is_no_note),
        cmocka_unit_test(unknown_signatures_are_passed_over),
        cmocka_unit_test(the_text_ends_at_the_last_empty_line),
        cmocka_unit_test(signs_the_checkpoint_of_the_vector),
        cmocka_unit_test(verifies_the_cosignature_of_the_vector),
        cmocka_unit_test(verifies_ecdsa_and_refuses_a_bent_text),
        cmocka_unit_test(refuses_bent_checkpoints),
        cmocka_unit_test(base64_is_read_strictly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
