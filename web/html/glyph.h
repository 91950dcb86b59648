/*
 * glyph.h - one character of foreign text, and which characters would hide or
 * reorder what stands around them (Unicode TR 36 section 3.2).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_GLYPH_H
#define WEB_GLYPH_H

#include "store/span.h"

/* Bytes of the character at the start of s, its code in *ret_code; 0 if s is
 * empty or does not start with one. */
size_t glyph_next(struct span s, uint32_t *ret_code);
/* Controls, bidirectional marks, zero-width and other invisible codes. */
bool glyph_hides(uint32_t code);

#endif
