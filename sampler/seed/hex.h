/*
 * hex.h - bytes as lower-case hexadecimal text. Reading it is
 * record_parse_hex (store/record.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_HEX_H
#define SAMPLER_HEX_H

#include "store/span.h"

/* Characters of n bytes, with a NUL. */
#define HEX_TEXT(n) (2 * (n) + 1)

/* Writes HEX_TEXT(bytes.n) characters and returns text. */
char *hex_print(struct span bytes, char *text);

#endif
