/*
 * note_key.c - keys of signed notes: their text form, their ids, and what
 * their signatures sign.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/note_key.h"

#include <assert.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "store/base64.h"
#include "store/sha256.h"
#include "store/utf8.h"

enum { ID_HEX = 8, COSIGNATURE_BYTES = 8 + ED25519_SIGNATURE };

/* The code point of one well-formed character. */
static int32_t decode(struct span c)
{
    int32_t v = c.n == 1 ? c.p[0] : c.p[0] & (0x7f >> c.n);

    for (size_t i = 1; i < c.n; i++)
        v = v << 6 | (c.p[i] & 0x3f);
    return v;
}

/* White_Space of the Unicode character database. */
static bool is_space(int32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool note_text_good(struct span text, bool lf)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < 0x20 && !(lf && text.p[i] == '\n'))
            return false;
    return utf8_whole(text);
}

bool note_name_good(struct span name)
{
    if (name.n == 0 || name.n >= NOTE_NAME || !note_text_good(name, false))
        return false;
    for (size_t at = 0, n; at < name.n; at += n) {
        struct span rest = span_of(name.p + at, name.n - at);
        int32_t c;

        if (utf8_step(rest, &n) != PARSE_OK)
            return false;
        c = decode(span_of(rest.p, n));
        if (c == '+' || is_space(c))
            return false;
    }
    return true;
}

void note_key_identify(struct note_key *k)
{
    uint8_t lf_type[] = {'\n', (uint8_t)k->type};
    struct span key = span_of(k->public_key, k->public_n);
    struct span parts[] = {span_str(k->name), span_of(lf_type, 2), key};
    uint8_t hash[SHA256_BYTES];

    /* The specification's exception: of ECDSA, the SPKI alone. */
    if (k->type == NOTE_ECDSA)
        sha256(key, hash);
    else
        sha256_parts(parts, 3, hash);
    memcpy(k->id, hash, sizeof(k->id));
}

static EVP_PKEY *open_public(const struct note_key *k)
{
    const unsigned char *p = k->public_key;
    EVP_PKEY *key;

    if (k->type != NOTE_ECDSA)
        return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
                                           k->public_key, k->public_n);
    key = d2i_PUBKEY(NULL, &p, (long)k->public_n);
    if (key != NULL && (p != k->public_key + k->public_n ||
                        EVP_PKEY_get_base_id(key) != EVP_PKEY_EC)) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

static bool type_known(uint8_t type)
{
    return type == NOTE_ED25519 || type == NOTE_ECDSA ||
           type == NOTE_COSIGNATURE;
}

/* type || public key. */
static bool parse_public(struct span text, struct note_key *k)
{
    uint8_t bytes[1 + NOTE_PUBLIC];
    EVP_PKEY *key;
    size_t n;

    if (base64_decode(text, bytes, sizeof(bytes), &n) != PARSE_OK || n < 2 ||
        !type_known(bytes[0]))
        return false;
    k->type = bytes[0];
    k->public_n = n - 1;
    memcpy(k->public_key, bytes + 1, k->public_n);
    if (k->type != NOTE_ECDSA && k->public_n != ED25519_KEY)
        return false;
    key = open_public(k);
    EVP_PKEY_free(key);
    return key != NULL;
}

enum parse note_key_parse(struct span vkey, struct note_key *ret_k)
{
    const uint8_t *plus = vkey.n == 0 ? NULL : memchr(vkey.p, '+', vkey.n);
    struct note_key k = {0};
    struct span name, rest;
    char id[ID_HEX + 1];

    if (plus == NULL)
        return PARSE_BAD;
    name = span_of(vkey.p, (size_t)(plus - vkey.p));
    rest = span_of(plus + 1, vkey.n - name.n - 1);
    if (!note_name_good(name) || rest.n <= ID_HEX || rest.p[ID_HEX] != '+')
        return PARSE_BAD;
    memcpy(k.name, name.p, name.n);
    if (!parse_public(span_of(rest.p + ID_HEX + 1, rest.n - ID_HEX - 1), &k))
        return PARSE_BAD;
    note_key_identify(&k);
    snprintf(id, sizeof(id), "%02x%02x%02x%02x", k.id[0], k.id[1], k.id[2],
             k.id[3]);
    if (memcmp(id, rest.p, ID_HEX) != 0)
        return PARSE_BAD;
    *ret_k = k;
    return PARSE_OK;
}

void note_key_print(const struct note_key *k, char ret_vkey[NOTE_VKEY])
{
    uint8_t bytes[1 + NOTE_PUBLIC] = {(uint8_t)k->type};
    char text[(1 + NOTE_PUBLIC + 2) / 3 * 4 + 1];
    int n;

    memcpy(bytes + 1, k->public_key, k->public_n);
    base64_encode(span_of(bytes, 1 + k->public_n), text);
    n = snprintf(ret_vkey, NOTE_VKEY, "%s+%02x%02x%02x%02x+%s", k->name,
                 k->id[0], k->id[1], k->id[2], k->id[3], text);
    assert(n > 0 && n < NOTE_VKEY);
}

static bool verify(const struct note_key *k, struct span signature,
                   struct span signed_bytes)
{
    const EVP_MD *md = k->type == NOTE_ECDSA ? EVP_sha256() : NULL;
    EVP_PKEY *key = open_public(k);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = key != NULL && ctx != NULL &&
                EVP_DigestVerifyInit(ctx, NULL, md, NULL, key) == 1 &&
                EVP_DigestVerify(ctx, signature.p, signature.n, signed_bytes.p,
                                 signed_bytes.n) == 1;

    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    return good;
}

/* tlog-cosignature: the time stands before the signature and under it. */
static bool verify_cosignature(const struct note_key *k, struct span text,
                               struct span signature, uint64_t *ret_time_s)
{
    struct cursor c = cursor_of(signature);
    uint64_t time_s = cursor_be64(&c);
    uint8_t bytes[64 + NOTE_MAX];
    int n;

    if (signature.n != COSIGNATURE_BYTES || text.n > NOTE_MAX)
        return false;
    n = snprintf((char *)bytes, 64, "cosignature/v1\ntime %" PRIu64 "\n",
                 time_s);
    memcpy(bytes + n, text.p, text.n);
    *ret_time_s = time_s;
    return verify(k, cursor_take(&c, ED25519_SIGNATURE),
                  span_of(bytes, (size_t)n + text.n));
}

bool note_key_verify(const struct note_key *k, struct span text,
                     struct span signature, uint64_t *ret_time_s)
{
    *ret_time_s = 0;
    if (k->type == NOTE_COSIGNATURE)
        return verify_cosignature(k, text, signature, ret_time_s);
    if (k->type == NOTE_ED25519 && signature.n != ED25519_SIGNATURE)
        return false;
    return verify(k, signature, text);
}
