/*
 * blocks_simd.h - blocks of quantised weights in vectors of 32 bytes, and one
 * output of a few rows in 8 lanes. Integer sums are exact in any order; each
 * float step is the reference's.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_BLOCKS_SIMD_H
#define NUMERICS_GGML_BLOCKS_SIMD_H

#include <string.h>

#include "numerics/ggml/blocks.h"
#include "numerics/ggml/simd/simd.h"
#include "numerics/ggml/simd/vec8.h"

OP __m256i bytes_32(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

OP float half_at(const uint8_t *p)
{
    return _cvtsh_ss(read_u16(p));
}

/* Low nibbles, then high ones. */
OP __m256i nibbles_32(const uint8_t *p)
{
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m256i both = _mm256_set_m128i(_mm_srli_epi16(b, 4), b);

    return _mm256_and_si256(both, _mm256_set1_epi8(15));
}

/* 16 where a bit of the 32 is set. */
OP __m256i fifth_32(const uint8_t *p)
{
    const __m256i which = _mm256_set_epi64x(
        0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    uint32_t h;
    __m256i v;

    memcpy(&h, p, sizeof h);
    v = _mm256_shuffle_epi8(_mm256_set1_epi32((int)h), which);
    v = _mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit);
    return _mm256_and_si256(v, _mm256_set1_epi8(16));
}

OP bool is_signed(enum ggml_type type)
{
    return type == GGML_Q8_0 || type == GGML_Q4_0 || type == GGML_Q5_0;
}

/* A block of 32 as bytes, less the type's offset. */
OP __m256i numbers_32(enum ggml_type type, const uint8_t *w)
{
    switch (type) {
    case GGML_Q8_0:
        return bytes_32(w + 2);
    case GGML_Q4_0:
        return _mm256_sub_epi8(nibbles_32(w + 2), _mm256_set1_epi8(8));
    case GGML_Q4_1:
        return nibbles_32(w + 4);
    case GGML_Q5_0:
        return _mm256_sub_epi8(
            _mm256_or_si256(nibbles_32(w + 6), fifth_32(w + 2)),
            _mm256_set1_epi8(16));
    default: /* Q5_1 */
        return _mm256_or_si256(nibbles_32(w + 8), fifth_32(w + 4));
    }
}

/* 8 sums of 4 neighbouring products. No pair of products leaves 16 bits: the
 * inputs are above -128, the weights' sizes at most 128. */
OP __m256i fours(bool sign, __m256i w, __m256i x)
{
    __m256i p =
        sign ? _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w))
             : _mm256_maddubs_epi16(w, x);

    return _mm256_madd_epi16(p, _mm256_set1_epi16(1));
}

OP size_t block_32(enum ggml_type type)
{
    return type == GGML_Q8_0   ? 34
           : type == GGML_Q4_0 ? 18
           : type == GGML_Q4_1 ? 20
           : type == GGML_Q5_0 ? 22
                               : 24;
}

OP bool has_min(enum ggml_type type)
{
    return type == GGML_Q4_1 || type == GGML_Q5_1;
}

OP int sum_of_ints(__m256i v)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v),
                              _mm256_extracti128_si256(v, 1));

    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}

/* Rows of inputs at a time. */
enum { BLOCK_ROWS = 8 };

/* xn rows of inputs, at most BLOCK_ROWS. */
OP void lanes_block(const struct ggml_tile *t, enum ggml_type type, size_t o,
                    size_t r, const int xn)
{
    const uint8_t *w = t->w + o * t->w_bytes;
    const struct ggml_q8 *x[BLOCK_ROWS];
    vec8 acc[BLOCK_ROWS];
    float side[BLOCK_ROWS] = {0};

    for (int b = 0; b < xn; b++) {
        x[b] = (const void *)(t->x + (r + (size_t)b) * t->x_bytes);
        acc[b] = set_8(0.0f);
    }
    for (size_t i = 0; i < t->k / 32; i++, w += block_32(type)) {
        __m256i q = numbers_32(type, w);
        float d = half_at(w), m = has_min(type) ? half_at(w + 2) : 0.0f;

        for (int b = 0; b < xn; b++) {
            __m256i s = fours(is_signed(type), q, bytes_32(x[b][i].q));

            acc[b] = fma_8(set_8(d * x[b][i].d), _mm256_cvtepi32_ps(s), acc[b]);
            if (has_min(type))
                side[b] = side[b] + m * x[b][i].s;
        }
    }
    for (int b = 0; b < xn; b++)
        t->out[(r + (size_t)b) * t->stride + o] =
            has_min(type) ? sum_halves_8(acc[b]) + side[b]
                          : sum_halves_8(acc[b]);
}

#endif
