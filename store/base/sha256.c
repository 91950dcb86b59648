/*
 * sha256.c - SHA-256 through OpenSSL's low-level calls: deprecated in favour
 * of EVP, but they neither allocate nor look up a provider, and a tree hashes
 * millions of 65-byte nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "store/sha256.h"

#include <openssl/sha.h>

void sha256_parts(const struct span *parts, size_t n,
                  uint8_t ret_hash[SHA256_BYTES])
{
    SHA256_CTX ctx;

    SHA256_Init(&ctx);
    for (size_t i = 0; i < n; i++)
        if (parts[i].n != 0)
            SHA256_Update(&ctx, parts[i].p, parts[i].n);
    SHA256_Final(ret_hash, &ctx);
}

void sha256(struct span data, uint8_t ret_hash[SHA256_BYTES])
{
    sha256_parts(&data, 1, ret_hash);
}
