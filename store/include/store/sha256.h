/*
 * sha256.h - SHA-256 (FIPS 180-4) of bytes that lie in one or several spans.
 * Needs no memory and cannot fail.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SHA256_H
#define STORE_SHA256_H

#include "store/span.h"

enum { SHA256_BYTES = 32 };

void sha256(struct span data, uint8_t ret_hash[SHA256_BYTES]);
/* Of the parts, joined. */
void sha256_parts(const struct span *parts, size_t n,
                  uint8_t ret_hash[SHA256_BYTES]);

#endif
