/*
 * manifest.h - which model exactly: a digest of every file that decides what
 * it answers, as registered in the record `manifest`.
 *
 * Files stand in byte order of their names; which they are, and what each of
 * them is for, is what an engine says of its directories (engine.h). `weights`
 * is the SHA-256 of what sha256sum(1) prints for the files with weights in that
 * order ("HEX  NAME LF" each), so anyone can make it again with coreutils.
 * `manifest` is the SHA-256 of the text
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

/* What a file is for; of all but weights and others there is one at most. */
enum manifest_role {
    MANIFEST_OTHER,
    MANIFEST_WEIGHTS,
    MANIFEST_CONFIG,
    MANIFEST_TOKENIZER,
    MANIFEST_TEMPLATE
};

struct manifest_file {
    char name[MANIFEST_NAME_MAX];
    enum manifest_role role;
    uint64_t bytes;
    uint8_t sha256[32];
};

struct manifest {
    struct manifest_file *files;
    size_t n_files;
    char numerics[32], recipe[64];
    /* What its jobs are run by without a feed, and what they need
     * (docs/records.md). Not in the digest: both follow from the files. */
    char level[16], needs[32];
    /* Files of other weights that a mismatch is tried with, likewise: that they
     * are named is in a file above. */
    struct manifest_file *alternatives;
    size_t n_alternatives;
    uint8_t manifest[32], weights[32];
    uint8_t config[32], tokenizer[32], template[32]; /* zeros: no such file */
};

/* Empty; recipe may be "". -ENOMEM. The caller ends *ret_m with manifest_fini,
 * after success only. */
int manifest_init(const char *numerics, const char *recipe,
                  struct manifest *ret_m);
void manifest_fini(struct manifest *m);
/* Hashes DIR/NAME. -EINVAL: too many files or too long a name; errno of
 * reading, with words; -ENOMEM. */
int manifest_add(struct manifest *m, const char *dir, const char *name,
                 enum manifest_role role, struct error *ret_error);
/* Hashes a file as an alternative, under the name that it is declared by.
 * Errors as manifest_add. */
int manifest_add_alternative(struct manifest *m, const char *path,
                             const char *name, struct error *ret_error);
/* All files are there: makes the digests over them. -ENOMEM. */
int manifest_finish(struct manifest *m);

/* Writes the keys of kind `manifest`; model: its public name; engine: who
 * serves it, may be empty. False if they do not fit. */
bool manifest_record(const struct manifest *m, const char *model,
                     const char *engine, struct record *r);

#endif
