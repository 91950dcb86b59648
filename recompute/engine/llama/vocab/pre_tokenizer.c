/*
 * pre_tokenizer.c - the table of word patterns of byte-level BPE:
 * pre_tokenizer.h. A row's patterns cut one after the other, each within the
 * pieces of the one before.
 *
 * llama.cpp knows the characters of Unicode 15.1, PCRE2 10.42 those of
 * Unicode 14: the classes L, N and P name what came since. Compared with the
 * engine for every code point by peer_llama_text.py of the tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/vocab/pre_tokenizer.h"

#include <errno.h>
#include <stdlib.h>

#include "tokenizer/pattern/pattern.h"

/* Items of a class in PCRE2's syntax. */
#define L                                                            \
    "\\p{L}\\x{1123f}-\\x{11240}\\x{11f02}\\x{11f04}-\\x{11f10}"     \
    "\\x{11f12}-\\x{11f33}\\x{1342f}\\x{13441}-\\x{13446}\\x{1b132}" \
    "\\x{1b155}\\x{1df25}-\\x{1df2a}\\x{1e030}-\\x{1e06d}"           \
    "\\x{1e4d0}-\\x{1e4eb}\\x{2b739}\\x{2ebf0}-\\x{2ee5d}"           \
    "\\x{31350}-\\x{323af}"
#define N \
    "\\p{N}\\x{11f50}-\\x{11f59}\\x{1d2c0}-\\x{1d2d3}\\x{1e4f0}-\\x{1e4f9}"
#define P "\\p{P}\\x{11b00}-\\x{11b09}\\x{11f43}-\\x{11f4f}"
#define S "\\p{White_Space}"

/* Ends of all rows. */
#define SPACES "|[" S "]+(?![^" S "])|[" S "]+"
/* Words of GPT-2 (Radford et al. 2019). */
#define GPT2 \
    "'s|'t|'re|'ve|'m|'ll|'d| ?[" L "]+| ?[" N "]+| ?[^" S L N "]+" SPACES
/* Words of GPT-4's kind: contractions of any case, numbers as asked. */
#define MODERN(numbers)                                               \
    "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"           \
    "|[^\\r\\n" L N "]?[" L "]+|" numbers "| ?[^" S L N "]+[\\r\\n]*" \
    "|[" S "]*[\\r\\n]+" SPACES
#define SIGNS "$+<=>\\^~|"

static const char *const gpt2[] = {GPT2, NULL};
static const char *const digits[] = {"[" N "]", GPT2, NULL};
static const char *const llama3[] = {MODERN("[" N "]{1,3}"), NULL};
static const char *const qwen2[] = {MODERN("[" N "]"), NULL};
static const char *const plain[] = {"[" P SIGNS "]+", GPT2, "[" N "]+",
                                    "[0-9][0-9][0-9]", NULL};
static const char *const falcon[] = {"[" P SIGNS "`]+", GPT2, "[0-9][0-9][0-9]",
                                     NULL};

static const struct llama_pre_tokenizer table[] = {
    {"default", plain, false, false},
    {"llama3", llama3, true, true},
    {"llama-v3", llama3, true, true},
    {"llama-bpe", llama3, true, true},
    {"falcon3", llama3, true, true},
    {"pixtral", llama3, true, true},
    {"midm-2.0", llama3, true, true},
    {"lfm2", llama3, true, true},
    {"smaug-bpe", llama3, false, false},
    {"falcon", falcon, false, false},
    {"qwen2", qwen2, false, false},
    {"deepseek-r1-qwen", qwen2, false, false},
    {"stablelm2", qwen2, false, false},
    {"smollm", digits, false, false},
    {"starcoder", digits, false, false},
    {"refact", digits, false, false},
    {"command-r", digits, false, false},
    {"codeshell", digits, false, false},
    {"exaone", digits, false, false},
    {"minerva-7b", digits, false, false},
    {"gpt-2", gpt2, false, false},
    {"phi-2", gpt2, false, false},
    {"gigachat", gpt2, false, false},
    {"mpt", gpt2, false, false},
    {"olmo", gpt2, false, false},
    {"jais", gpt2, false, false},
};

const struct llama_pre_tokenizer *llama_pre_tokenizer_find(struct span name)
{
    if (name.n == 0)
        return &table[0];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_eq_str(name, table[i].name))
            return &table[i];
    return NULL;
}

int llama_pre_tokenizer_init(const struct llama_pre_tokenizer *w,
                             struct pre_tokenizer *ret_s, struct error *error)
{
    size_t n = 0;
    int err = 0;

    *ret_s = (struct pre_tokenizer){0};
    while (w->patterns[n] != NULL)
        n++;
    ret_s->steps = calloc(n + 1, sizeof *ret_s->steps);
    if (ret_s->steps == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++) {
        struct pre_tokenizer_step step = {.kind = STEP_SPLIT,
                                          .behavior = SPLIT_ISOLATED};

        err = pattern_native(w->patterns[i], &step.pattern, error);
        if (err == 0)
            ret_s->steps[ret_s->n++] = step;
    }
    if (err == 0)
        ret_s->steps[ret_s->n++] =
            (struct pre_tokenizer_step){.kind = STEP_BYTES};
    return err;
}
