/*
 * ggml_type.h - how GGUF files hold numbers (ggml's docs/gguf.md): one by one
 * or in blocks that share a scale. numerics/ggml/blocks.h draws the blocks.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_GGML_TYPE_H
#define RECOMPUTE_GGML_TYPE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of the file format. */
enum ggml_type {
    GGML_F32 = 0,
    GGML_F16 = 1,
    GGML_Q4_0 = 2,
    GGML_Q4_1 = 3,
    GGML_Q5_0 = 6,
    GGML_Q5_1 = 7,
    GGML_Q8_0 = 8,
    GGML_Q2_K = 10,
    GGML_Q3_K = 11,
    GGML_Q4_K = 12,
    GGML_Q5_K = 13,
    GGML_Q6_K = 14,
    GGML_BF16 = 30,
    GGML_TYPES = 42
};

/* A type's block: elements in it and its bytes. False: not known here. */
bool ggml_type_block(enum ggml_type type, uint32_t *ret_elements,
                     uint32_t *ret_bytes);
const char *ggml_type_name(enum ggml_type type); /* "Q8_0"; "?" */

#endif
