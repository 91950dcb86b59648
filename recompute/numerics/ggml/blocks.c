/*
 * blocks.c - weight blocks taken apart, activations rounded: the definition.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/blocks.h"

#include <string.h>

#include "numerics/ggml/scalar.h"

struct ggml_block_parts ggml_block_parts(enum ggml_type type)
{
    switch (type) {
    case GGML_Q4_0:
        return (struct ggml_block_parts){0, -1, -1, 2, -1};
    case GGML_Q4_1:
        return (struct ggml_block_parts){0, 2, -1, 4, -1};
    case GGML_Q5_0:
        return (struct ggml_block_parts){0, -1, -1, 6, 2};
    case GGML_Q5_1:
        return (struct ggml_block_parts){0, 2, -1, 8, 4};
    case GGML_Q8_0:
        return (struct ggml_block_parts){0, -1, -1, 2, -1};
    case GGML_Q4_K:
        return (struct ggml_block_parts){0, 2, 4, 16, -1};
    case GGML_Q5_K:
        return (struct ggml_block_parts){0, 2, 4, 48, 16};
    case GGML_Q6_K:
        return (struct ggml_block_parts){208, -1, 192, 0, 128};
    default:
        return (struct ggml_block_parts){-1, -1, -1, -1, -1};
    }
}

void ggml_k_scale(const uint8_t *s, unsigned j, uint8_t *ret_scale,
                  uint8_t *ret_min)
{
    if (j < 4) {
        *ret_scale = s[j] & 63;
        *ret_min = s[j + 4] & 63;
    } else {
        *ret_scale = (uint8_t)((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
        *ret_min = (uint8_t)(s[j + 4] >> 4 | (s[j] >> 6) << 4);
    }
}

static void nibbles(const uint8_t *p, int8_t *q)
{
    for (int i = 0; i < 16; i++) {
        q[i] = p[i] & 15;
        q[i + 16] = (int8_t)(p[i] >> 4);
    }
}

static void fifth_bits(const uint8_t *p, int8_t *q)
{
    uint32_t h = (uint32_t)read_u16(p) | (uint32_t)read_u16(p + 2) << 16;

    for (int i = 0; i < 32; i++)
        q[i] = (int8_t)(q[i] | (h >> i & 1) << 4);
}

static void numbers_k(const uint8_t *p, const uint8_t *high, int8_t *q)
{
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 32; i++) {
            int v = p[32 * (j / 2) + i] >> 4 * (j & 1) & 15;

            if (high != NULL)
                v |= (high[i] >> j & 1) << 4;
            q[32 * j + i] = (int8_t)v;
        }
}

static void numbers_q6k(const uint8_t *low, const uint8_t *high, int8_t *q)
{
    for (int i = 0; i < 256; i++) {
        int half = i / 128, quarter = i / 32 & 3, at = i & 31;
        int l = low[64 * half + 32 * (quarter & 1) + at];
        int h = high[32 * half + at] >> 2 * quarter & 3;

        q[i] = (int8_t)((l >> 4 * (quarter >> 1) & 15) | h << 4);
    }
}

size_t ggml_block_numbers(enum ggml_type type, const uint8_t *block,
                          int8_t *ret_q)
{
    struct ggml_block_parts at = ggml_block_parts(type);

    switch (type) {
    case GGML_Q8_0:
        memcpy(ret_q, block + at.quants, 32);
        return 32;
    case GGML_Q4_K:
        numbers_k(block + at.quants, NULL, ret_q);
        return 256;
    case GGML_Q5_K:
        numbers_k(block + at.quants, block + at.high, ret_q);
        return 256;
    case GGML_Q6_K:
        numbers_q6k(block + at.quants, block + at.high, ret_q);
        return 256;
    default:
        nibbles(block + at.quants, ret_q);
        if (at.high >= 0)
            fifth_bits(block + at.high, ret_q);
        return 32;
    }
}

/* q d, or q d + m with both rounded; the halves' offset first. */
static void widen_32(enum ggml_type type, const uint8_t *w, float *x)
{
    struct ggml_block_parts at = ggml_block_parts(type);
    float d = float_from_f16(read_u16(w + at.d));
    int offset = type == GGML_Q4_0 ? 8 : type == GGML_Q5_0 ? 16 : 0;
    int8_t q[32];

    (void)ggml_block_numbers(type, w, q);
    for (int i = 0; i < 32; i++) {
        x[i] = (float)(q[i] - offset) * d;
        if (at.min >= 0)
            x[i] = x[i] + float_from_f16(read_u16(w + at.min));
    }
}

static void widen_k(enum ggml_type type, const uint8_t *w, float *x)
{
    struct ggml_block_parts at = ggml_block_parts(type);
    float d = float_from_f16(read_u16(w + at.d));
    float min = float_from_f16(read_u16(w + at.min));
    int8_t q[256];

    (void)ggml_block_numbers(type, w, q);
    for (unsigned i = 0; i < 256; i++) {
        uint8_t scale, m;

        ggml_k_scale(w + at.scales, i / 32, &scale, &m);
        x[i] = d * (float)scale * (float)q[i] - min * (float)m;
    }
}

static void widen_q6k(const uint8_t *w, float *x)
{
    struct ggml_block_parts at = ggml_block_parts(GGML_Q6_K);
    float d = float_from_f16(read_u16(w + at.d));
    int8_t q[256];

    (void)ggml_block_numbers(GGML_Q6_K, w, q);
    for (int i = 0; i < 256; i++)
        x[i] = d * (float)(int8_t)w[at.scales + i / 16] * (float)(q[i] - 32);
}

static void widen_floats(enum ggml_type type, const uint8_t *w, size_t k,
                         float *x)
{
    if (type == GGML_F32)
        memcpy(x, w, 4 * k);
    for (size_t i = 0; type == GGML_F16 && i < k; i++)
        x[i] = float_from_f16(read_u16(w + 2 * i));
    for (size_t i = 0; type == GGML_BF16 && i < k; i++)
        x[i] = float_from_bf16(read_u16(w + 2 * i));
}

bool ggml_widen_row(enum ggml_type type, const uint8_t *w, size_t k,
                    float *ret_x)
{
    uint32_t elements, bytes;

    if (!ggml_type_block(type, &elements, &bytes) ||
        (elements > 1 && ggml_block_parts(type).d < 0))
        return false;
    if (elements == 1) {
        widen_floats(type, w, k, ret_x);
        return true;
    }
    for (size_t i = 0; i < k; i += elements, w += bytes) {
        if (elements == 32)
            widen_32(type, w, ret_x + i);
        else if (type == GGML_Q6_K)
            widen_q6k(w, ret_x + i);
        else
            widen_k(type, w, ret_x + i);
    }
    return true;
}

enum ggml_act ggml_act_of(enum ggml_type weights, const struct ggml_build *b)
{
    switch (weights) {
    case GGML_F32:
        return ACT_F32;
    case GGML_F16:
        return ACT_F16;
    case GGML_BF16:
        return b->bf16 ? ACT_BF16_DP : ACT_BF16;
    case GGML_Q4_K:
    case GGML_Q5_K:
    case GGML_Q6_K:
        return ACT_Q8K;
    default:
        return ACT_Q8;
    }
}

size_t ggml_act_bytes(enum ggml_act a, size_t k)
{
    switch (a) {
    case ACT_BF16_DP:
        return (2 * k + 7) / 8 * 8;
    case ACT_Q8:
        return k / 32 * sizeof(struct ggml_q8);
    case ACT_Q8K:
        return (k / 256 * sizeof(struct ggml_q8k) + 7) / 8 * 8;
    default:
        return (4 * k + 7) / 8 * 8;
    }
}

/* The larger one of |x|, NaN passed over. */
static float size_of_row(const float *x, size_t n)
{
    float m = 0.0f;

    for (size_t i = 0; i < n; i++)
        m = float_max(float_of(bits_of(x[i]) & 0x7fffffff), m);
    return m;
}

/* To the nearest whole number, ties to even. What no int8_t can be near to
 * (the quotient by a subnormal) becomes -128, as saturation makes it. */
static int nearest(float x)
{
    if (!(x > -1024.0f && x < 1024.0f))
        return -128;
    return (int)((x + 0x1.8p23f) - 0x1.8p23f);
}

static void round_q8(const float *x, struct ggml_q8 *y)
{
    float m = size_of_row(x, 32), d = m / 127.0f;
    float id = m != 0.0f ? 127.0f / m : 0.0f;
    int sum = 0;

    for (int i = 0; i < 32; i++) {
        y->q[i] = (int8_t)nearest(x[i] * id);
        sum += y->q[i];
    }
    y->d = round_f16(d);
    y->s = round_f16(d * (float)sum);
}

/* The element of the largest size, the first of them, becomes -127. */
static void round_q8k(const float *x, struct ggml_q8k *y)
{
    float size = 0.0f, most = 0.0f, is;

    for (int i = 0; i < 256; i++) {
        float a = float_of(bits_of(x[i]) & 0x7fffffff);

        if (a > size) {
            size = a;
            most = x[i];
        }
    }
    if (size == 0.0f) {
        memset(y, 0, sizeof *y);
        return;
    }
    is = -127.0f / most;
    memset(y->sums, 0, sizeof y->sums);
    for (int i = 0; i < 256; i++) {
        int q = nearest(is * x[i]);

        y->q[i] = (int8_t)(q > 127 ? 127 : q);
        y->sums[i / 16] = (int16_t)(y->sums[i / 16] + y->q[i]);
    }
    y->d = 1.0f / is;
}

static void round_floats(enum ggml_act a, const float *x, size_t k, float *y)
{
    for (size_t i = 0; i < k; i++)
        y[i] = a == ACT_F16    ? round_f16(x[i])
               : a == ACT_BF16 ? round_bf16(x[i])
                               : x[i];
}

void ggml_act_round_ref(enum ggml_act a, const float *x, size_t k,
                        void *ret_row)
{
    struct ggml_q8 *q8 = ret_row;
    struct ggml_q8k *q8k = ret_row;
    uint16_t *bf16 = ret_row;

    switch (a) {
    case ACT_Q8:
        for (size_t i = 0; i < k / 32; i++)
            round_q8(x + 32 * i, q8 + i);
        break;
    case ACT_Q8K:
        for (size_t i = 0; i < k / 256; i++)
            round_q8k(x + 256 * i, q8k + i);
        break;
    case ACT_BF16_DP:
        for (size_t i = 0; i < k; i++)
            bf16[i] = bf16_of(x[i]);
        break;
    default:
        round_floats(a, x, k, ret_row);
    }
}
