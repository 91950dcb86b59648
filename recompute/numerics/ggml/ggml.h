/*
 * ggml.h - numerics `ggml`: the arithmetic of llama.cpp's CPU back end (x86).
 *
 * Comes in: rows of weights as GGUF files hold them, rows of floats, and what a
 * build of the engine is, as far as bits depend on it (below). Goes out: the
 * floats that this build computes. docs/numerics-ggml.md has each rule in
 * words with its evidence.
 *
 *     blocks.h    weights and rounded activations as bytes
 *     product.h   products: which kernel a row takes, what each sums in order
 *     rows.h      norm, RoPE, gate, attention of one key/value head
 *     libm.h      the functions that the engine takes from glibc
 *     kernels.h   all of them as tables: the reference (..._ref.c), which is
 *                 the definition, and its vector forms (simd/)
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_H
#define NUMERICS_GGML_H

#include <stdbool.h>
#include <stdint.h>

/* What the compiler made of the last elements (k % (4 lanes)) of a float dot
 * product of one row. Shapes that are multiples of 64 have none. */
enum ggml_leftover {
    LEFTOVER_GROUPS, /* gcc -O3: groups of lanes, half the lanes, (lanes 8:
                      * 4), products rounded and added in order; rest fused */
    LEFTOVER_FUSED,  /* clang -O3, gcc -O2 generic: each fused */
    LEFTOVER_ROUNDED /* gcc -O2 znver: each product rounded, then added */
};

struct ggml_build {
    unsigned lanes; /* floats of a vector: 16 AVX-512, 8 AVX2 */
    bool bf16;      /* VDPBF16PS is used (AVX512_BF16) */
    bool blas;      /* tinyBLAS (LLAMAFILE) */
    bool any_k;     /* tinyBLAS takes any k; else whole steps */
    bool any_head;  /* FA tiles for any head_dim; else whole */
    bool tiled;     /* K-quants have tiles from 8 rows on */
    bool repack;    /* Q4_0, Q4_K in groups of 8 columns */
    enum ggml_leftover leftover;
};

#endif
