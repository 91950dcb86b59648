/*
 * rows_ref.c - norm, rope and gate of a row: the definition.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/rows.h"

#include "numerics/ggml/libm.h"
#include "numerics/ggml/scalar.h"

void ggml_rms_norm_ref(const float *x, const float *w, size_t n, float eps,
                       float *out)
{
    double sum = 0.0;
    float mean, scale;

    for (size_t i = 0; i < n; i++)
        sum += (double)(x[i] * x[i]);
    mean = (float)(sum / (double)n);
    scale = 1.0f / sqrtf(mean + eps);
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * scale * w[i];
}

void ggml_rope_angles(const struct ggml_turning *t, uint32_t position,
                      float *ret_cos, float *ret_sin)
{
    float theta = (float)position;

    for (size_t i = 0; i < t->pairs; i++) {
        float angle = t->factors != NULL ? theta / t->factors[i] : theta;

        ggml_sincosf(angle * t->scale, &ret_sin[i], &ret_cos[i]);
        theta = theta * t->step;
    }
}

void ggml_rope_turn_ref(float *x, size_t pairs, const float *cos,
                        const float *sin)
{
    for (size_t i = 0; i < pairs; i++) {
        float a = x[2 * i], b = x[2 * i + 1];

        x[2 * i] = fmaf(a, cos[i], -(b * sin[i]));
        x[2 * i + 1] = fmaf(a, sin[i], b * cos[i]);
    }
}

void ggml_halves_ref(const float *x, size_t n, uint8_t *ret_halves)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t h = f16_of(x[i]);

        ret_halves[2 * i] = (uint8_t)h;
        ret_halves[2 * i + 1] = (uint8_t)(h >> 8);
    }
}

void ggml_swiglu_ref(const float *gate, const float *up, size_t n,
                     unsigned lanes, float *out)
{
    size_t whole = n / lanes * lanes;

    for (size_t i = 0; i < n; i++) {
        float g = gate[i];
        float e = i < whole ? vexp(0.0f - g, lanes) : ggml_expf(-g);

        out[i] = g / (1.0f + e) * up[i];
    }
}
