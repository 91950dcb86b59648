/*
 * k_quants_simd.c - products of Q4_K, Q5_K and Q6_K in vectors of 32 bytes.
 * K_QUANTS_TILE is the function's symbol, which the build gives.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/simd/blocks_simd.h"

/* A block of weights made ready for several rows of inputs. */
struct k_ready {
    float d, dmin;
    __m256i q[8];     /* of each 32 */
    __m256i scale[8]; /* 16-bit scales in the order of the pair sums */
    __m256i scales;   /* Q6_K: all 16, 16-bit; else mins of each 16 */
    int min[8];
};

OP __m256i four_bits(__m256i v, int shift)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, shift), _mm256_set1_epi8(15));
}

OP void k_ready_45(enum ggml_type type, const uint8_t *w, struct k_ready *k)
{
    const uint8_t *quants = w + (type == GGML_Q4_K ? 16 : 48);
    __m256i high =
        type == GGML_Q5_K ? bytes_32(w + 16) : _mm256_setzero_si256();

    k->d = half_at(w);
    k->dmin = half_at(w + 2);
    for (unsigned j = 0; j < 8; j++) {
        __m256i v = bytes_32(quants + 32 * (j / 2));
        uint8_t scale, min;

        v = (j & 1) != 0 ? four_bits(v, 4) : four_bits(v, 0);
        if (type == GGML_Q5_K) {
            __m256i bit = _mm256_set1_epi8((char)(1 << j));
            __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(high, bit), bit);

            v = _mm256_or_si256(v, _mm256_and_si256(set, _mm256_set1_epi8(16)));
        }
        k->q[j] = v;
        ggml_k_scale(w + 4, j, &scale, &min);
        k->scale[j] = _mm256_set1_epi16(scale);
        k->min[j] = min;
    }
}

OP void k_ready_6(const uint8_t *w, struct k_ready *k)
{
    __m128i scales = _mm_loadu_si128((const __m128i *)(const void *)(w + 192));

    k->d = half_at(w + 208);
    k->dmin = 0.0f;
    k->scales = _mm256_cvtepi8_epi16(scales);
    for (int j = 0; j < 8; j++) {
        int half = j / 4, quarter = j % 4;
        __m256i low = bytes_32(w + 64 * half + 32 * (quarter & 1));
        __m256i high = bytes_32(w + 128 + 32 * half);

        low = quarter >= 2 ? four_bits(low, 4) : four_bits(low, 0);
        high = quarter == 0   ? high
               : quarter == 1 ? _mm256_srli_epi16(high, 2)
               : quarter == 2 ? _mm256_srli_epi16(high, 4)
                              : _mm256_srli_epi16(high, 6);
        high = _mm256_and_si256(high, _mm256_set1_epi8(3));
        k->q[j] = _mm256_or_si256(low, _mm256_slli_epi16(high, 4));
        k->scale[j] = _mm256_set_m128i(_mm_set1_epi16((int8_t)w[193 + 2 * j]),
                                       _mm_set1_epi16((int8_t)w[192 + 2 * j]));
    }
}

/* Scaled sums of 4 neighbours over the 32s j and j + 1. */
OP __m256i k_pair(const struct k_ready *k, const struct ggml_q8k *x, int j)
{
    __m256i a = _mm256_maddubs_epi16(k->q[j], bytes_32(x->q + 32 * j));
    __m256i b = _mm256_maddubs_epi16(k->q[j + 1], bytes_32(x->q + 32 * j + 32));

    return _mm256_add_epi32(_mm256_madd_epi16(a, k->scale[j]),
                            _mm256_madd_epi16(b, k->scale[j + 1]));
}

OP int k_mins(const struct k_ready *k, const struct ggml_q8k *x, int from,
              int to)
{
    int sum = 0;

    for (int j = from; j < to; j++)
        sum += k->min[j] * (x->sums[2 * j] + x->sums[2 * j + 1]);
    return sum;
}

/* What one sum carries from block to block. */
struct k_sum {
    vec8 lanes;
    float side[4];
    float acc, min;
};

/* Q6_K: 32 less in each quant. */
OP __m256i k_all(enum ggml_type type, const struct k_ready *k,
                 const struct ggml_q8k *x)
{
    __m256i s =
        _mm256_add_epi32(_mm256_add_epi32(k_pair(k, x, 0), k_pair(k, x, 2)),
                         _mm256_add_epi32(k_pair(k, x, 4), k_pair(k, x, 6)));

    if (type == GGML_Q6_K)
        s = _mm256_sub_epi32(
            s, _mm256_slli_epi32(
                   _mm256_madd_epi16(k->scales, bytes_32(x->sums)), 5));
    return s;
}

OP void k_step_dot(enum ggml_type type, const struct k_ready *k,
                   const struct ggml_q8k *x, struct k_sum *s)
{
    float dmin = -x->d * k->dmin;

    s->lanes = fma_8(set_8(x->d * k->d), _mm256_cvtepi32_ps(k_all(type, k, x)),
                     s->lanes);
    if (type == GGML_Q5_K)
        s->side[0] = fmaf(dmin, (float)k_mins(k, x, 0, 8), s->side[0]);
    for (int l = 0; type == GGML_Q4_K && l < 4; l++)
        s->side[l] =
            fmaf(dmin, (float)k_mins(k, x, 2 * l, 2 * l + 2), s->side[l]);
}

OP void k_step(enum ggml_kernel kernel, enum ggml_type type,
               const struct k_ready *k, const struct ggml_q8k *x,
               struct k_sum *s)
{
    float r;

    if (kernel == KERNEL_DOT) {
        k_step_dot(type, k, x, s);
    } else if (kernel == KERNEL_TILED) {
        r = (float)sum_of_ints(k_all(type, k, x)) * k->d;
        if (type != GGML_Q6_K)
            r = fmaf(-k->dmin, (float)k_mins(k, x, 0, 8), r);
        s->acc = fmaf(r, x->d, s->acc);
    } else if (kernel == KERNEL_COLUMNS) {
        s->acc =
            fmaf((float)sum_of_ints(k_all(type, k, x)), k->d * x->d, s->acc);
        s->min = fmaf((float)k_mins(k, x, 0, 8), k->dmin * x->d, s->min);
    } else {
        for (int j = 0; j < 8; j += 2) {
            s->acc =
                fmaf((float)sum_of_ints(k_pair(k, x, j)), k->d * x->d, s->acc);
            s->min =
                fmaf((float)k_mins(k, x, j, j + 2), k->dmin * x->d, s->min);
        }
    }
}

OP float k_end(enum ggml_kernel kernel, enum ggml_type type,
               const struct k_sum *s)
{
    float side = s->side[0];

    if (kernel == KERNEL_TILED)
        return s->acc;
    if (kernel != KERNEL_DOT)
        return s->acc - s->min;
    if (type == GGML_Q6_K)
        return sum_halves_8(s->lanes);
    if (type == GGML_Q4_K)
        side = (s->side[0] + s->side[2]) + (s->side[1] + s->side[3]);
    return sum_halves_8(s->lanes) + side;
}

OP void k_block(enum ggml_kernel kernel, enum ggml_type type,
                const struct ggml_tile *t, size_t xn)
{
    const uint8_t *w = t->w;
    const size_t bytes = type == GGML_Q4_K   ? 144
                         : type == GGML_Q5_K ? 176
                                             : 210;
    struct k_sum s[BLOCK_ROWS];

    memset(s, 0, sizeof s);
    for (size_t i = 0; i < t->k / 256; i++, w += bytes) {
        struct k_ready k;

        if (type == GGML_Q6_K)
            k_ready_6(w, &k);
        else
            k_ready_45(type, w, &k);
        for (size_t b = 0; b < xn; b++) {
            const struct ggml_q8k *x = (const void *)(t->x + b * t->x_bytes);

            k_step(kernel, type, &k, &x[i], &s[b]);
        }
    }
    for (size_t b = 0; b < xn; b++)
        t->out[b * t->stride] = k_end(kernel, type, &s[b]);
}

OP void k_tile(enum ggml_kernel kernel, enum ggml_type type,
               const struct ggml_tile *t)
{
    const size_t most = BLOCK_ROWS;

    for (size_t o = 0; o < t->w_n; o++)
        for (size_t r = 0; r < t->x_n; r += most) {
            struct ggml_tile at = tile_at(t, o, r);

            k_block(kernel, type, &at, t->x_n - r < most ? t->x_n - r : most);
        }
}

static void k_tile_4(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    if (kernel == KERNEL_PAIRS)
        k_tile(KERNEL_PAIRS, GGML_Q4_K, t);
    else if (kernel == KERNEL_COLUMNS)
        k_tile(KERNEL_COLUMNS, GGML_Q4_K, t);
    else if (kernel == KERNEL_TILED)
        k_tile(KERNEL_TILED, GGML_Q4_K, t);
    else
        k_tile(KERNEL_DOT, GGML_Q4_K, t);
}

void K_QUANTS_TILE(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    if (t->type == GGML_Q4_K)
        k_tile_4(kernel, t);
    else if (t->type == GGML_Q5_K && kernel == KERNEL_TILED)
        k_tile(KERNEL_TILED, GGML_Q5_K, t);
    else if (t->type == GGML_Q5_K)
        k_tile(KERNEL_DOT, GGML_Q5_K, t);
    else if (kernel == KERNEL_TILED)
        k_tile(KERNEL_TILED, GGML_Q6_K, t);
    else
        k_tile(KERNEL_DOT, GGML_Q6_K, t);
}
