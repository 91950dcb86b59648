/*
 * bits.h - float32 values as their bits: the only form in which two of them
 * are compared here. "Same" means the same bits; the distance in units in the
 * last place says how far apart two different ones are, no more.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_BITS_H
#define WEB_BITS_H

#include "html/format.h"

/* Exactly 8 lower-case hex digits. */
enum parse bits_parse(struct span text, uint32_t *ret_bits);
/* C99 hexadecimal floating form, "-0x1.3c0ca2p+0"; "nan:400001" with the
 * payload, "inf", "-inf". */
struct text bits_hexfloat(uint32_t bits);
/* Distance in units in the last place; false if one is no number. Zero for
 * -0 and +0, which differ in bits. */
bool bits_ulp(uint32_t a, uint32_t b, uint64_t *ret_ulp);

#endif
