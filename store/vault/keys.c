/*
 * keys.c - making and reading the store's keys.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vault/keys.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "store/layout.h"

enum { PEM_MAX = 65536, POINT_MAX = 65 };

static int read_raw(const char *path, uint8_t out[KEY_BYTES])
{
    char *bytes;
    size_t n;
    int rc = file_load(path, KEY_BYTES, &bytes, &n);

    if (rc != 0)
        return rc;
    if (n == KEY_BYTES)
        memcpy(out, bytes, n);
    OPENSSL_cleanse(bytes, n);
    free(bytes);
    return n == KEY_BYTES ? 0 : -EBADMSG;
}

static int raw_key(const char *path, bool may_make, uint8_t out[KEY_BYTES])
{
    int rc = read_raw(path, out);

    if (rc != -ENOENT)
        return rc;
    if (!may_make)
        return -ENOKEY;
    if (RAND_priv_bytes(out, KEY_BYTES) != 1)
        return -EIO;
    return file_replace(path, span_of(out, KEY_BYTES), 0600);
}

static int write_vrf(const char *path, EVP_PKEY *key)
{
    BIO *pem = BIO_new(BIO_s_mem());
    char *bytes;
    long n;
    int rc = -EIO;

    if (pem != NULL &&
        PEM_write_bio_PrivateKey(pem, key, NULL, NULL, 0, NULL, NULL) == 1) {
        n = BIO_get_mem_data(pem, &bytes);
        rc = file_replace(path, span_of(bytes, (size_t)n), 0600);
    }
    BIO_free(pem);
    return rc;
}

static int public_of(EVP_PKEY *key, uint8_t out[VRF_PUBLIC])
{
    uint8_t point[POINT_MAX];
    size_t n;

    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point,
                                        sizeof(point), &n) != 1)
        return -EBADMSG;
    if (n == VRF_PUBLIC) {
        memcpy(out, point, VRF_PUBLIC);
        return 0;
    }
    if (n != POINT_MAX || point[0] != 4)
        return -EBADMSG;
    /* SEC 1 section 2.3.3: x alone, and whether y is odd. */
    out[0] = 2 + (point[POINT_MAX - 1] & 1);
    memcpy(out + 1, point + 1, VRF_PUBLIC - 1);
    return 0;
}

static int read_vrf(const char *path, EVP_PKEY **ret_key)
{
    char *bytes;
    size_t n;
    BIO *pem;
    int rc = file_load(path, PEM_MAX, &bytes, &n);

    if (rc != 0)
        return rc;
    pem = BIO_new_mem_buf(bytes, (int)n);
    if (pem != NULL)
        *ret_key = PEM_read_bio_PrivateKey(pem, NULL, NULL, NULL);
    BIO_free(pem);
    OPENSSL_cleanse(bytes, n);
    free(bytes);
    return pem != NULL && *ret_key != NULL ? 0 : -EBADMSG;
}

static int vrf_key(const char *path, bool may_make, uint8_t out[VRF_PUBLIC])
{
    EVP_PKEY *key = NULL;
    int rc = read_vrf(path, &key);

    if (rc == -EACCES && !may_make)
        return 0;
    if (rc == -ENOENT && !may_make)
        return -ENOKEY;
    if (rc == -ENOENT) {
        key = EVP_EC_gen("P-256");
        rc = key == NULL ? -EIO : write_vrf(path, key);
    }
    if (rc == 0)
        rc = public_of(key, out);
    EVP_PKEY_free(key);
    return rc;
}

int keys_open(const char *state_dir, bool may_make, struct keys *ret_k)
{
    struct path dir = layout_path(state_dir, "keys");
    struct path log = layout_path(state_dir, LAYOUT_LOG_KEY);
    struct path vault = layout_path(state_dir, LAYOUT_VAULT_KEY);
    struct path vrf = layout_path(state_dir, LAYOUT_VRF_KEY);
    struct keys k = {0};
    int rc = file_make_dir(dir.text, 0711);

    if (rc == 0)
        rc = raw_key(log.text, may_make, k.log);
    if (rc == 0)
        rc = raw_key(vault.text, may_make, k.vault);
    if (rc == 0)
        rc = vrf_key(vrf.text, may_make, k.vrf_public);
    if (rc == 0)
        *ret_k = k;
    OPENSSL_cleanse(&k, sizeof(k));
    return rc;
}
