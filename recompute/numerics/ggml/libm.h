/*
 * libm.h - the float functions that llama.cpp takes from glibc, to the bit.
 *
 * Comes in and goes out: floats. Each takes the steps of glibc 2.28 and later
 * on a CPU with FMA (the algorithms published with Arm's optimized routines:
 * a table, a short polynomial in double, one rounding to float), so the host's
 * libm does not matter. test_ggml_libm.c holds them against
 * the host's.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_LIBM_H
#define NUMERICS_GGML_LIBM_H

float ggml_expf(float x);
/* Natural logarithm. */
float ggml_logf(float x);
/* x to the y for finite x > 0 and finite y: all that a RoPE base asks for. */
float ggml_powf(float x, float y);
/* Sine and cosine in radians. */
void ggml_sincosf(float x, float *ret_sin, float *ret_cos);

#endif
