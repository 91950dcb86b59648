/*
 * vrf_key.c - the VRF's secret scalar out of its PEM file.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/vrf.h"

#include <errno.h>
#include <stdio.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

static int secret_of(const EVP_PKEY *key, uint8_t ret_secret[VRF_SECRET])
{
    char group[32] = "";
    BIGNUM *x = NULL;
    int err = -EINVAL;

    if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group,
                                       sizeof group, NULL) == 1 &&
        OPENSSL_strcasecmp(group, "prime256v1") == 0 &&
        EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &x) == 1 &&
        BN_bn2binpad(x, ret_secret, VRF_SECRET) == VRF_SECRET)
        err = 0;
    BN_clear_free(x);
    return err;
}

int vrf_secret_load(const char *path, uint8_t ret_secret[VRF_SECRET])
{
    FILE *f = fopen(path, "re");
    EVP_PKEY *key;
    int err = -EINVAL;

    if (f == NULL)
        return -errno;
    key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    if (key != NULL)
        err = secret_of(key, ret_secret);
    EVP_PKEY_free(key);
    (void)fclose(f); /* only read */
    ERR_clear_error();
    return err;
}
