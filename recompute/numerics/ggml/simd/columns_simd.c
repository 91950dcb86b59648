/*
 * columns_simd.c - products of repacked Q4_0: four sums at a time.
 * COLUMNS_TILE is the function's symbol, which the build gives.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/simd/blocks_simd.h"

/* The sums of four vectors' 8 integers. */
OP __m128i sums_of_four(const __m256i v[4])
{
    __m256i s = _mm256_hadd_epi32(_mm256_hadd_epi32(v[0], v[1]),
                                  _mm256_hadd_epi32(v[2], v[3]));

    return _mm_add_epi32(_mm256_castsi256_si128(s),
                         _mm256_extracti128_si256(s, 1));
}

/* Repacked Q4_0: four sums at a time, of wn rows by xn; one of them is 4. */
OP void columns_block(const struct ggml_tile *t, size_t o, size_t r,
                      const int wn, const int xn)
{
    __m128 acc = _mm_setzero_ps();
    float out[4];

    for (size_t i = 0; i < t->k / 32; i++) {
        __m256i s[4];
        float d[4];

        for (int a = 0; a < wn; a++) {
            const uint8_t *w = t->w + (o + (size_t)a) * t->w_bytes + 18 * i;
            __m256i q = numbers_32(GGML_Q4_0, w);

            for (int b = 0; b < xn; b++) {
                const struct ggml_q8 *x =
                    (const void *)(t->x + (r + (size_t)b) * t->x_bytes);

                s[a + b] = fours(true, q, bytes_32(x[i].q));
                d[a + b] = half_at(w) * x[i].d;
            }
        }
        acc = _mm_fmadd_ps(_mm_cvtepi32_ps(sums_of_four(s)), _mm_loadu_ps(d),
                           acc);
    }
    _mm_storeu_ps(out, acc);
    for (int a = 0; a < wn; a++)
        for (int b = 0; b < xn; b++)
            t->out[(r + (size_t)b) * t->stride + o + (size_t)a] = out[a + b];
}

/* Whole groups of 8 outputs, so of 4. */
void COLUMNS_TILE(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    size_t o = 0, whole = t->x_n / 4 * 4;

    for (; o + 4 <= t->w_n; o += 4) {
        for (size_t a = 0; a < 4; a++)
            for (size_t r = 0; r < whole; r += 4)
                columns_block(t, o + a, r, 1, 4);
        for (size_t r = whole; r < t->x_n; r++)
            columns_block(t, o, r, 4, 1);
    }
    if (o < t->w_n) {
        struct ggml_tile rest = *t;

        rest.w += o * t->w_bytes;
        rest.w_n -= o;
        rest.out += o;
        ggml_tile_ref(kernel, &rest);
    }
}
