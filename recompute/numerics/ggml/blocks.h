/*
 * blocks.h - weights as GGUF files hold them, and activations as products
 * take them.
 *
 * Weight blocks (little-endian; f16 = half):
 *   Q4_0  32: f16 d, 16 bytes: low nibbles elements 0..15, high 16..31
 *   Q4_1  32: f16 d, f16 m, 16 bytes alike
 *   Q5_0  32: f16 d, u32 fifth bits, 16 bytes alike
 *   Q5_1  32: f16 d, f16 m, u32, 16 bytes
 *   Q8_0  32: f16 d, 32 signed bytes
 *   Q4_K 256: f16 d, f16 dmin, 12 bytes of 6-bit scales and mins, 128 bytes:
 *             32 bytes a pair of sub-blocks, low nibbles the even one
 *   Q5_K 256: the same with 32 bytes of fifth bits (bit j: sub-block j) before
 *             the 128
 *   Q6_K 256: 128 bytes of low nibbles, 64 of two high bits, 16 signed scales,
 *             f16 d
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_BLOCKS_H
#define NUMERICS_GGML_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/ggml/ggml.h"
#include "recompute/ggml_type.h"

/* 32 activations: x = d q. d is a half's value. s, for Q8_1, is the half of
 * d (before its rounding) times the sum of q. */
struct ggml_q8 {
    float d, s;
    int8_t q[32];
};

/* 256 activations for K-quants: x = d q; sums of each 16 q. */
struct ggml_q8k {
    float d;
    int16_t sums[16];
    int8_t q[256];
};

/* How a row of activations lies in memory. */
enum ggml_act {
    ACT_F32,     /* floats */
    ACT_F16,     /* floats rounded to half */
    ACT_BF16,    /* floats rounded to bfloat16 */
    ACT_BF16_DP, /* bfloat16, two bytes each, for VDPBF16PS */
    ACT_Q8,      /* struct ggml_q8: Q8_0 and Q8_1 */
    ACT_Q8K      /* struct ggml_q8k */
};

enum ggml_act ggml_act_of(enum ggml_type weights, const struct ggml_build *b);
size_t ggml_act_bytes(enum ggml_act a,
                      size_t k); /* of a row; a multiple of 8 */
/* Rounds a row of k floats; k is a whole number of blocks. */
void ggml_act_round_ref(enum ggml_act a, const float *x, size_t k,
                        void *ret_row);

/* The floats of a row of weights (get_rows). False: not for this type. */
bool ggml_widen_row(enum ggml_type type, const uint8_t *w, size_t k,
                    float *ret_x);

/* One block as whole numbers: unsigned or signed as stored (Q4_0: 0..15,
 * Q5_0: 0..31, Q6_K: 0..63). Returns how many: 32 or 256. */
size_t ggml_block_numbers(enum ggml_type type, const uint8_t *block,
                          int8_t *ret_q);
/* Scale and min of sub-block j of Q4_K and Q5_K. */
void ggml_k_scale(const uint8_t *scales, unsigned j, uint8_t *ret_scale,
                  uint8_t *ret_min);

static inline uint16_t read_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

/* Where a block keeps its parts; minus one: it has no such part. */
struct ggml_block_parts {
    int d, min, scales, quants, high;
};
struct ggml_block_parts ggml_block_parts(enum ggml_type type);

#endif
