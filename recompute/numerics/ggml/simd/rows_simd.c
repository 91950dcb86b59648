/*
 * rows_simd.c - rounding of activations, norm and RoPE in vectors. ROWS is the
 * table's symbol, which the build gives.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/scalar.h"
#include "numerics/ggml/simd/blocks_simd.h"

static void halves(const float *x, size_t n, uint8_t *ret_halves)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        to_f16_8(ret_halves + 2 * i, load_8(x + i));
    ggml_halves_ref(x + i, n - i, ret_halves + 2 * i);
}

static void round_row_f16(const float *x, size_t k, float *y)
{
    size_t i = 0;

    for (; i + 8 <= k; i += 8)
        store_8(y + i, round_f16_8(load_8(x + i)));
    ggml_act_round_ref(ACT_F16, x + i, k - i, y + i);
}

/* The largest size of 32, NaN passed over. */
OP float size_of_32(const vec8 v[4])
{
    vec8 m = set_8(0.0f);
    float f[8], most = 0.0f;

    for (int i = 0; i < 4; i++)
        m = _mm256_max_ps(size_8(v[i]), m);
    store_8(f, m);
    for (int i = 0; i < 8; i++)
        most = float_max(f[i], most);
    return most;
}

OP __m256i whole_8(vec8 x)
{
    return _mm256_cvtps_epi32(x); /* to nearest even: MXCSR is the default */
}

/* 32 integers to bytes, in order. */
OP void store_bytes(const __m256i v[4], int8_t *q)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i a = _mm256_packs_epi32(v[0], v[1]);
    __m256i b = _mm256_packs_epi32(v[2], v[3]);

    a = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b), order);
    _mm256_storeu_si256((__m256i *)(void *)q, a);
}

static void round_q8_32(const float *x, struct ggml_q8 *y)
{
    vec8 v[4];
    __m256i q[4], sum;
    float m, d, id;

    for (int i = 0; i < 4; i++)
        v[i] = load_8(x + 8 * i);
    m = size_of_32(v);
    d = m / 127.0f;
    id = m != 0.0f ? 127.0f / m : 0.0f;
    for (int i = 0; i < 4; i++)
        q[i] = whole_8(mul_8(v[i], set_8(id)));
    sum = _mm256_add_epi32(_mm256_add_epi32(q[0], q[1]),
                           _mm256_add_epi32(q[2], q[3]));
    store_bytes(q, y->q);
    y->d = _cvtsh_ss(_cvtss_sh(d, 0));
    y->s = _cvtsh_ss(_cvtss_sh(d * (float)sum_of_ints(sum), 0));
}

static void act_round(enum ggml_act a, const float *x, size_t k, void *ret_row)
{
    if (a == ACT_F16)
        round_row_f16(x, k, ret_row);
    else if (a == ACT_Q8)
        for (size_t i = 0; i < k / 32; i++)
            round_q8_32(x + 32 * i, (struct ggml_q8 *)ret_row + i);
    else
        ggml_act_round_ref(a, x, k, ret_row);
}

static void rms_norm(const float *x, const float *w, size_t n, float eps,
                     float *out)
{
    double sum = 0.0;
    float scale;

    for (size_t i = 0; i < n; i++)
        sum += (double)(x[i] * x[i]);
    scale = 1.0f / sqrtf((float)(sum / (double)n) + eps);
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * scale * w[i];
}

static void rope_turn(float *x, size_t pairs, const float *cos,
                      const float *sin)
{
    for (size_t i = 0; i < pairs; i++) {
        float a = x[2 * i], b = x[2 * i + 1];

        x[2 * i] = fmaf(a, cos[i], -(b * sin[i]));
        x[2 * i + 1] = fmaf(a, sin[i], b * cos[i]);
    }
}

const struct ggml_rows ROWS = {.act_round = act_round,
                               .rms_norm = rms_norm,
                               .rope_turn = rope_turn,
                               .halves = halves};
