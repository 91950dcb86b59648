/*
 * base64.h - base64 with padding (RFC 4648 section 4), read strictly: no white
 * space, no missing padding, no bits set that carry nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_BASE64_H
#define STORE_BASE64_H

#include "store/span.h"

/* Characters for n bytes, without a NUL. */
size_t base64_len(size_t n);
/* Writes base64_len(data.n) characters and a NUL. */
void base64_encode(struct span data, char *ret_text);
/* Decodes into out; never more than 3 bytes for 4 characters. PARSE_BAD also
 * if size does not suffice. */
enum parse base64_decode(struct span text, uint8_t *out, size_t size,
                         size_t *ret_n);

#endif
