/*
 * kernels_ref.c - the definition of numerics `fixed`, in plain C. The order of
 * every addition is the order of these loops; nothing here is written for
 * speed. docs/numerics-fixed.md says the same in words.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/fixed/fixed.h"
#include "numerics/fixed/fixed_math.h"

/* One chain an output: i ascending, every step one fused multiply-add. */
static void ref_tile(const struct fixed_tile *t)
{
    size_t end =
        t->end * FIXED_PANEL < t->w->n ? t->end * FIXED_PANEL : t->w->n;

    for (size_t r = 0; r < t->rows; r++)
        for (size_t o = t->first * FIXED_PANEL; o < end; o++) {
            float *out = &t->out[r * t->stride + o];
            float sum = t->go_on ? *out : 0.0f;

            for (size_t i = 0; i < t->w->k; i++)
                sum = fmaf(t->x[i * t->rows + r],
                           fixed_panel_weight(t->w, o, i), sum);
            *out = fixed_clean(sum);
        }
}

/* Lane l takes the elements l, l + 16, l + 32, ... in this order. */
static void ref_rmsnorm(const float *x, const float *w, size_t n, float eps,
                        float *out)
{
    float lane[FIXED_LANES] = {0};
    float scale;

    for (size_t i = 0; i < n; i++)
        lane[i % FIXED_LANES] = fmaf(x[i], x[i], lane[i % FIXED_LANES]);
    scale = 1.0f / sqrtf(fixed_lanes_sum(lane) / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        out[i] = fixed_clean(w[i] * (x[i] * scale));
}

static void ref_rope(float *x, size_t half, const float *cos, const float *sin)
{
    for (size_t i = 0; i < half; i++) {
        float a = x[i], b = x[half + i];

        x[i] = fixed_clean(fmaf(a, cos[i], -(b * sin[i])));
        x[half + i] = fixed_clean(fmaf(b, cos[i], a * sin[i]));
    }
}

static float ref_softmax(float *x, size_t n, float scale)
{
    float lane[FIXED_LANES], most = -INFINITY;

    for (size_t l = 0; l < FIXED_LANES; l++)
        lane[l] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        x[i] = x[i] * scale;
        lane[i % FIXED_LANES] = float_max(x[i], lane[i % FIXED_LANES]);
    }
    for (size_t l = 0; l < FIXED_LANES; l++) {
        most = float_max(lane[l], most);
        lane[l] = 0.0f;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = fixed_clean(fixed_exp(x[i] - most));
        lane[i % FIXED_LANES] = lane[i % FIXED_LANES] + x[i];
    }
    return fixed_clean(fixed_lanes_sum(lane));
}

static void ref_divide(float *x, size_t n, float by)
{
    for (size_t i = 0; i < n; i++)
        x[i] = fixed_clean(x[i] / by);
}

static void ref_silu(const float *gate, const float *up, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        float e = fixed_exp(0.0f - gate[i]);

        out[i] = fixed_clean(gate[i] / (1.0f + e) * up[i]);
    }
}

static void ref_add(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = fixed_clean(x[i] + y[i]);
}

const struct fixed_kernels fixed_kernels_ref = {
    .name = "ref",
    .tile_rows = 4,
    .tile_panels = 1,
    .tile = ref_tile,
    .rmsnorm = ref_rmsnorm,
    .rope = ref_rope,
    .softmax = ref_softmax,
    .divide = ref_divide,
    .silu = ref_silu,
    .add = ref_add,
};
