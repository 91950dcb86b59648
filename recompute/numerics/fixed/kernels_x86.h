/*
 * kernels_x86.h - the tables of kernels for x86-64.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FIXED_KERNELS_X86_H
#define FIXED_KERNELS_X86_H

#include "numerics/fixed/fixed.h"

extern const struct fixed_kernels fixed_kernels_avx2, fixed_kernels_avx512;

#endif
