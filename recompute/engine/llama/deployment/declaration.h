/*
 * declaration.h - what is declared of an engine that runs: which engine, which
 * build, on which instructions, with which options.
 *
 * Comes in: an engine.json, as an operator writes it down beside a deployment:
 *
 *   engine    "llama.cpp"
 *   build     text with b<number> or commit <hex>, and ggml <version>
 *   compiler  text: "gcc 12.2 -O3 ...", "clang ...", GGML_NATIVE=OFF
 *   machine   { isa: "AVX-512, AVX512_BF16; no AMX" }
 *   command   the server's command line
 *   threads, slots, kv_unified, flash_attention, kv_type_k, kv_type_v,
 *   ram_prompt_cache: what came of it; each outranks the command line
 *   alternatives  [ GGUF files, from the directory on ]: other weights that
 *            are tried on an answer that those declared do not reproduce
 *
 * Goes out: the same as values. What neither says has llama-server's default.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_DECLARATION_H
#define LLAMA_DECLARATION_H

#include "store/span.h"

struct error;

struct build_name {
    uint32_t number;  /* b11434; 0: not told */
    char commit[48];  /* lower-case hex; empty: not told */
    uint32_t ggml[3]; /* version of ggml; zeros: not told */
};

enum { DECLARATION_ALTERNATIVES = 8 };

struct declaration {
    char engine[32];
    char build_text[160];
    struct build_name build;
    bool avx512, avx512_bf16, avx512_fp16, amx;
    bool clang, optimised; /* compiler; -O3 */
    uint32_t slots, threads;
    uint32_t context;           /* -c; 0: the model's */
    uint32_t n_batch, n_ubatch; /* -b, -ub */
    bool unified, flash, prompt_cache;
    bool own_samplers, own_template, shifts; /* recipe.h */
    char uncovered[32]; /* a flag that changes the arithmetic, or "" */
    char kv_k[8], kv_v[8];
    char alternatives[DECLARATION_ALTERNATIVES][128];
    size_t n_alternatives;
};

/* -EINVAL: not JSON, or a value of the wrong type; ret_error says which. */
int declaration_read(struct span json, struct declaration *ret_d,
                     struct error *ret_error);

/* "b11434 (ggml 0.26.0)", "2026-05-02 commit 173442644 (ggml 0.10.1)" */
void build_name_read(const char *text, struct build_name *ret_b);

#endif
