/*
 * seal.c - AES-256-GCM and AES key wrap. Comes in: plain bytes and the vault
 * key. Goes out: cipher bytes, tag and wrapped data key, and back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vault/seal.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>

enum { NONCE_BYTES = 12 };

/* Ciphers are looked up once and contexts kept: a lookup costs more than
 * sealing a short payload. */
struct seal {
    EVP_CIPHER *gcm;
    EVP_CIPHER_CTX *payload;
    EVP_CIPHER_CTX *wrap, *unwrap; /* keyed with the vault key */
};

/* The key is used for one message, so its nonce needs no chance. */
static const uint8_t nonce[NONCE_BYTES];

static EVP_CIPHER_CTX *open_wrap(EVP_CIPHER *cipher, const uint8_t *key,
                                 int encrypt)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

    if (ctx == NULL)
        return NULL;
    EVP_CIPHER_CTX_set_flags(ctx, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    if (EVP_CipherInit_ex2(ctx, cipher, key, NULL, encrypt, NULL) != 1) {
        EVP_CIPHER_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}

int seal_open(const uint8_t key[SEAL_KEY], struct seal **ret_s)
{
    EVP_CIPHER *wrap = EVP_CIPHER_fetch(NULL, "AES-256-WRAP", NULL);
    struct seal *s = calloc(1, sizeof *s);

    if (s != NULL && wrap != NULL) {
        s->gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
        s->payload = EVP_CIPHER_CTX_new();
        s->wrap = open_wrap(wrap, key, 1);
        s->unwrap = open_wrap(wrap, key, 0);
    }
    EVP_CIPHER_free(wrap);
    if (s == NULL || s->gcm == NULL || s->payload == NULL || s->wrap == NULL ||
        s->unwrap == NULL) {
        seal_close(s);
        return -EIO;
    }
    *ret_s = s;
    return 0;
}

void seal_close(struct seal *s)
{
    if (s == NULL)
        return;
    EVP_CIPHER_CTX_free(s->wrap);
    EVP_CIPHER_CTX_free(s->unwrap);
    EVP_CIPHER_CTX_free(s->payload);
    EVP_CIPHER_free(s->gcm);
    free(s);
}

/* Keys the payload's context and gives it the associated data. */
static int begin(struct seal *s, struct span aad, const uint8_t *key,
                 int encrypt)
{
    int n;

    if (EVP_CipherInit_ex2(s->payload, s->gcm, key, nonce, encrypt, NULL) !=
            1 ||
        EVP_CipherUpdate(s->payload, NULL, &n, aad.p, (int)aad.n) != 1)
        return -EIO;
    return 0;
}

static int update(struct seal *s, struct span data, uint8_t *out)
{
    int n;

    if (data.n > INT_MAX ||
        EVP_CipherUpdate(s->payload, out, &n, data.p, (int)data.n) != 1 ||
        (size_t)n != data.n)
        return -EIO;
    return 0;
}

int seal_begin(struct seal *s, struct span aad, uint8_t ret_wrap[SEAL_WRAP])
{
    uint8_t key[SEAL_KEY];
    int n, rc = -EIO;

    if (RAND_priv_bytes(key, sizeof(key)) == 1 &&
        EVP_CipherUpdate(s->wrap, ret_wrap, &n, key, sizeof(key)) == 1 &&
        n == SEAL_WRAP)
        rc = begin(s, aad, key, 1);
    OPENSSL_cleanse(key, sizeof(key));
    return rc;
}

int seal_update(struct seal *s, struct span data, uint8_t *out)
{
    return update(s, data, out);
}

int seal_end(struct seal *s, uint8_t ret_tag[SEAL_TAG])
{
    uint8_t none[SEAL_TAG];
    int n;

    if (EVP_CipherFinal_ex(s->payload, none, &n) != 1 ||
        EVP_CIPHER_CTX_ctrl(s->payload, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG,
                            ret_tag) != 1)
        return -EIO;
    return 0;
}

int unseal_begin(struct seal *s, struct span aad, const uint8_t wrap[SEAL_WRAP])
{
    uint8_t key[SEAL_WRAP];
    int n, rc = -EBADMSG;

    if (EVP_CipherUpdate(s->unwrap, key, &n, wrap, SEAL_WRAP) == 1 &&
        n == SEAL_KEY)
        rc = begin(s, aad, key, 0);
    OPENSSL_cleanse(key, sizeof(key));
    return rc;
}

int unseal_update(struct seal *s, struct span data, uint8_t *out)
{
    return update(s, data, out);
}

int unseal_end(struct seal *s, const uint8_t tag[SEAL_TAG])
{
    uint8_t none[SEAL_TAG], expected[SEAL_TAG];
    int n;

    for (int i = 0; i < SEAL_TAG; i++)
        expected[i] = tag[i];
    if (EVP_CIPHER_CTX_ctrl(s->payload, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG,
                            expected) != 1)
        return -EIO;
    return EVP_CipherFinal_ex(s->payload, none, &n) == 1 ? 0 : -EBADMSG;
}
