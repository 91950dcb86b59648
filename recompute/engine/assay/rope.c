/*
 * rope.c - cosines and sines of rotary position embedding.
 * Comes in: theta, the type of scaling, the head's width. Goes out: a table by
 * position. The frequency and the angle are each rounded to float32, as
 * engines do; all else is double (numerics/fixed/fixed_math.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/rope.h"

#include <errno.h>
#include <stdlib.h>

#include "numerics/fixed/fixed_math.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

#define TWO_PI 0x1.921fb54442d18p2

/* Long waves are stretched by factor, short ones stay, those between are
 * blended (Llama 3.1; transformers modeling_rope_utils.py). */
static double scale_llama3(const struct rope *r, double freq)
{
    double waves = r->original_context * freq / TWO_PI;
    double smooth = (waves - r->low_freq_factor) /
                    (r->high_freq_factor - r->low_freq_factor);

    if (waves < r->low_freq_factor)
        return freq / r->factor;
    if (waves > r->high_freq_factor)
        return freq;
    return (1.0 - smooth) * freq / r->factor + smooth * freq;
}

static float freq_of(const struct rope *r, size_t i, size_t half)
{
    double freq = fixed_exp_double(-((double)i / (double)half) *
                                   fixed_log_double(r->theta));

    if (r->type == ROPE_LINEAR)
        freq = freq / r->factor;
    if (r->type == ROPE_LLAMA3)
        freq = scale_llama3(r, freq);
    return (float)freq;
}

int rope_init(const struct model_config *c, struct rope_table *t)
{
    *t = (struct rope_table){.half = c->head_dim / 2};
    t->freq = malloc(t->half * sizeof(float));
    if (t->freq == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < t->half; i++)
        t->freq[i] = freq_of(&c->rope, i, t->half);
    return 0;
}

void rope_fini(struct rope_table *t)
{
    free(t->freq);
    free(t->cos);
    free(t->sin);
}

static int grow(float **p, size_t n)
{
    float *grown = reallocarray(*p, n, sizeof(float));

    if (grown == NULL)
        return -ENOMEM;
    *p = grown;
    return 0;
}

int rope_grow(struct rope_table *t, size_t positions)
{
    size_t to = (positions + 511) & ~(size_t)511;

    if (positions <= t->positions)
        return 0;
    if (grow(&t->cos, to * t->half) != 0 || grow(&t->sin, to * t->half) != 0)
        return -ENOMEM;
    for (size_t p = t->positions; p < to; p++)
        for (size_t i = 0; i < t->half; i++) {
            float angle = (float)p * t->freq[i];
            double s, c;

            fixed_sincos_double(angle, &s, &c);
            t->cos[p * t->half + i] = (float)c;
            t->sin[p * t->half + i] = (float)s;
        }
    t->positions = to;
    return 0;
}
