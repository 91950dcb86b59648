/*
 * blocks_vnni.c - products of blocks of 32 against rows of inputs: the 8 lanes
 * of two outputs in one vector, several pairs of outputs and rows at a time.
 * Each lane takes the float steps of the reference.
 *
 * VPDPBUSD multiplies unsigned by signed bytes. Where the weights are signed
 * the inputs are raised by 128, and 128 times the weights taken off again: all
 * whole numbers, exact.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/simd/blocks_simd.h"

enum { PAIRS = 2, PAIR_ROWS = 4 };

/* A block of each of two outputs. */
struct pair {
    __m512i q, less; /* less: what every sum starts from */
    __m512 d;
};

OP struct pair pair_at(enum ggml_type type, const uint8_t *w, const uint8_t *v)
{
    const __m512i halves =
        _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    __m128i d = _mm_cvtsi32_si128(read_u16(w) | read_u16(v) << 16);
    struct pair p;

    p.q = _mm512_inserti64x4(_mm512_castsi256_si512(numbers_32(type, w)),
                             numbers_32(type, v), 1);
    p.d =
        _mm512_permutexvar_ps(halves, _mm512_castps128_ps512(_mm_cvtph_ps(d)));
    p.less = _mm512_setzero_si512();
    if (is_signed(type))
        p.less = _mm512_sub_epi32(
            p.less,
            _mm512_dpbusd_epi32(p.less, _mm512_set1_epi8((char)128), p.q));
    return p;
}

OP __m512i pair_sums(enum ggml_type type, const struct pair *p, __m512i x)
{
    return is_signed(type) ? _mm512_dpbusd_epi32(p->less, x, p->q)
                           : _mm512_dpbusd_epi32(p->less, p->q, x);
}

OP __m512i inputs_twice(enum ggml_type type, const struct ggml_q8 *x)
{
    __m512i q = _mm512_broadcast_i64x4(bytes_32(x->q));

    return is_signed(type) ? _mm512_xor_si512(q, _mm512_set1_epi8((char)128))
                           : q;
}

/* PAIRS of outputs from o on, PAIR_ROWS from r on. */
OP void pairs_block(const struct ggml_tile *t, enum ggml_type type, size_t o,
                    size_t r)
{
    float side[2 * PAIRS][PAIR_ROWS] = {{0}};
    __m512 acc[PAIRS][PAIR_ROWS];

    for (int a = 0; a < PAIRS; a++)
        for (int b = 0; b < PAIR_ROWS; b++)
            acc[a][b] = _mm512_setzero_ps();
    for (size_t i = 0; i < t->k / 32; i++) {
        const uint8_t *w = t->w + o * t->w_bytes + i * block_32(type);
        struct pair p[PAIRS];

        for (int a = 0; a < PAIRS; a++)
            p[a] = pair_at(type, w + (size_t)(2 * a) * t->w_bytes,
                           w + (size_t)(2 * a + 1) * t->w_bytes);
        for (int b = 0; b < PAIR_ROWS; b++) {
            const struct ggml_q8 *x =
                (const struct ggml_q8 *)(const void *)(t->x + (r + (size_t)b) *
                                                                  t->x_bytes) +
                i;
            __m512i q = inputs_twice(type, x);

            for (int a = 0; a < PAIRS; a++)
                acc[a][b] = _mm512_fmadd_ps(
                    _mm512_mul_ps(p[a].d, _mm512_set1_ps(x->d)),
                    _mm512_cvtepi32_ps(pair_sums(type, &p[a], q)), acc[a][b]);
            for (int a = 0; has_min(type) && a < 2 * PAIRS; a++)
                side[a][b] =
                    side[a][b] + half_at(w + (size_t)a * t->w_bytes + 2) * x->s;
        }
    }
    for (int a = 0; a < 2 * PAIRS; a++)
        for (int b = 0; b < PAIR_ROWS; b++) {
            float sum = sum_halves_8(
                a % 2 == 0 ? _mm512_castps512_ps256(acc[a / 2][b])
                           : _mm512_extractf32x8_ps(acc[a / 2][b], 1));

            t->out[(r + (size_t)b) * t->stride + o + (size_t)a] =
                has_min(type) ? sum + side[a][b] : sum;
        }
}

/* Rows in fours; the others, as a single row, read the weights in the order of
 * memory, which is what they wait for. */
OP void lanes_tile(const struct ggml_tile *t, enum ggml_type type)
{
    size_t fours = t->x_n / PAIR_ROWS * PAIR_ROWS, o = 0;

    for (; o + 2 * PAIRS <= t->w_n && fours > 0; o += 2 * PAIRS)
        for (size_t r = 0; r < fours; r += PAIR_ROWS)
            pairs_block(t, type, o, r);
    for (; o < t->w_n && fours > 0; o++)
        for (size_t r = 0; r < fours; r++)
            lanes_block(t, type, o, r, 1);
    for (o = 0; o < t->w_n; o++)
        for (size_t r = fours; r < t->x_n; r++)
            lanes_block(t, type, o, r, 1);
}

void ggml_blocks_vnni(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    (void)kernel; /* there is one */
    switch (t->type) {
    case GGML_Q8_0:
        lanes_tile(t, GGML_Q8_0);
        break;
    case GGML_Q4_0:
        lanes_tile(t, GGML_Q4_0);
        break;
    case GGML_Q4_1:
        lanes_tile(t, GGML_Q4_1);
        break;
    case GGML_Q5_0:
        lanes_tile(t, GGML_Q5_0);
        break;
    default:
        lanes_tile(t, GGML_Q5_1);
    }
}
