/*
 * byte_alphabet.h - GPT-2's alphabet of 256 printable characters, one a byte:
 * printable Latin-1 stands for itself, the other 68 bytes, in order, for
 * U+0100 and on.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BYTE_ALPHABET_H
#define BYTE_ALPHABET_H

#include "tokenizer/pattern/pieces.h"

/* Appends the characters of bytes. */
void byte_alphabet_write(struct span bytes, struct buffer *out);
/* Appends the bytes of a text in this alphabet; false, and nothing appended,
 * if another character is in it. */
bool byte_alphabet_read(struct span text, struct buffer *out);

#endif
