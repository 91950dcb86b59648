/*
 * lanes_8.h - vec: the vectors of a replayed build of 8 lanes, for sources that
 * the build compiles for each number of lanes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_LANES_8_H
#define NUMERICS_GGML_LANES_8_H

#include VEC16_HEADER

enum { LANES = 8 };

typedef vec8 vec;

#define vec_load       load_8
#define vec_store      store_8
#define vec_add        add_8
#define vec_sub        sub_8
#define vec_mul        mul_8
#define vec_div        div_8
#define vec_fma        fma_8
#define vec_set        set_8
#define vec_f16        f16_8
#define vec_bf16       bf16_8
#define vec_sum_halves sum_halves_8
#define vec_sum_dot    sum_dot_8
#define vec_exp        exp_8

#endif
