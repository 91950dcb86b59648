/*
 * manifest.h - which model exactly: a digest of every file that decides what
 * it answers, as registered in the record `manifest`.
 *
 * Files, in byte order of their names: config.json, generation_config.json,
 * tokenizer.json, tokenizer_config.json, chat_template.jinja,
 * model.safetensors, model.safetensors.index.json and the shards it names;
 * those that exist. Of a llama.cpp deployment (numerics ggml): engine.json and
 * the GGUF file, which holds tokenizer and template too. `weights` is the
 * SHA-256 of what sha256sum(1) prints for the safetensors or GGUF files in that
 * order ("HEX  NAME LF" each), so anyone can
 * make it again with coreutils. `manifest` is the SHA-256 of the text
 *
 *     assay-manifest/1 LF  numerics NAME LF  recipe NAME LF
 *     "HEX  NAME LF" of every file
 *
 * with - for an empty name. The model's public name is not part of it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_MANIFEST_H
#define RECOMPUTE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record;
struct error;

enum { MANIFEST_NAME_MAX = 128, MANIFEST_FILES_MAX = 192 };

struct manifest_file {
    char name[MANIFEST_NAME_MAX];
    uint64_t bytes;
    uint8_t sha256[32];
};

struct manifest {
    struct manifest_file *files;
    size_t n_files;
    char numerics[32], recipe[64];
    /* Of a deployment what its jobs are run by without a feed: "invariant",
     * "search". Not in the digest: it follows from the files. */
    char level[16];
    char needs[32]; /* what its jobs need (docs/records.md), likewise */
    /* Files of a deployment's alternatives (llama/deployment.h), likewise: that
     * they are named is in engine.json. */
    struct manifest_file *alternatives;
    size_t n_alternatives;
    uint8_t manifest[32], weights[32];
    /* Zeros when there is no such file. template: chat_template.jinja, or
     * tokenizer_config.json where the template stands in there. */
    uint8_t config[32], tokenizer[32], template[32];
};

/* The only file of dir whose name ends in .gguf; -EINVAL: none, or several. */
int manifest_find_gguf(const char *dir, char ret_name[MANIFEST_NAME_MAX],
                       struct error *ret_error);

/* Reads and hashes the files of dir. numerics: "fixed" or "ggml"; recipe may
 * be empty.
 * Returns as model_open. The caller ends ret_m with manifest_fini. */
int manifest_init(const char *dir, const char *numerics, const char *recipe,
                  struct manifest *ret_m, struct error *ret_error);
void manifest_fini(struct manifest *m);
/* Hashes a file as an alternative, under the name that engine.json gives it.
 * Errors as manifest_init. */
int manifest_add_alternative(struct manifest *m, const char *path,
                             const char *name, struct error *ret_error);

/* Writes the keys of kind `manifest`; model: its public name; engine: who
 * serves it, may be empty. False if they do not fit. */
bool manifest_record(const struct manifest *m, const char *model,
                     const char *engine, struct record *r);

#endif
