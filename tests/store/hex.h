/*
 * hex.h - hexadecimal vectors in the store's tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STORE_HEX_H
#define TESTS_STORE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Decodes lower-case hex; out has room for half as many bytes. */
size_t from_hex(const char *hex, uint8_t *out);
/* Fails the running test unless the bytes are those of hex. */
void assert_hex(const uint8_t *bytes, size_t n, const char *hex);

#endif
