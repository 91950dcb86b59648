/*
 * lanes_16.h - vec: the vectors of a replayed build of 16 lanes, for sources
 * that the build compiles for each number of lanes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_LANES_16_H
#define NUMERICS_GGML_LANES_16_H

#include VEC16_HEADER

enum { LANES = 16 };

typedef vec16 vec;

#define vec_load       load_16
#define vec_store      store_16
#define vec_add        add_16
#define vec_sub        sub_16
#define vec_mul        mul_16
#define vec_div        div_16
#define vec_fma        fma_16
#define vec_set        set_16
#define vec_f16        f16_16
#define vec_bf16       bf16_16
#define vec_sum_halves sum_halves_16
#define vec_sum_dot    sum_dot_16
#define vec_exp        exp_16

#endif
