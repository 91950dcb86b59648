/*
 * manifest.c - digests of the files that decide what a model answers.
 * Comes in: names of files. Goes out: name, size and SHA-256 of each, and the
 * digests over them that manifest.h defines.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/manifest.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "store/record.h"

static int hash_stream(FILE *f, EVP_MD_CTX *c, struct manifest_file *ret_f)
{
    uint8_t buf[65536];
    size_t n;

    ret_f->bytes = 0;
    if (EVP_DigestInit_ex(c, EVP_sha256(), NULL) != 1)
        return -ENOMEM;
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0) {
        ret_f->bytes += n;
        if (EVP_DigestUpdate(c, buf, n) != 1)
            return -ENOMEM;
    }
    if (ferror(f))
        return -EIO;
    return EVP_DigestFinal_ex(c, ret_f->sha256, NULL) == 1 ? 0 : -ENOMEM;
}

static int hash_path(const char *path, struct manifest_file *ret_f)
{
    EVP_MD_CTX *c = NULL;
    FILE *f = fopen(path, "rbe");
    int err;

    if (f == NULL)
        return -errno;
    c = EVP_MD_CTX_new();
    err = c == NULL ? -ENOMEM : hash_stream(f, c, ret_f);
    EVP_MD_CTX_free(c);
    (void)fclose(f); /* only read */
    return err;
}

int manifest_add_alternative(struct manifest *m, const char *path,
                             const char *name, struct error *ret_error)
{
    struct manifest_file *all = reallocarray(
        m->alternatives, m->n_alternatives + 1, sizeof *m->alternatives);
    struct manifest_file *f;
    int err;

    if (all == NULL)
        return error_set(ret_error, -ENOMEM, "no memory");
    m->alternatives = all;
    f = &all[m->n_alternatives];
    f->role = MANIFEST_WEIGHTS;
    if (snprintf(f->name, sizeof(f->name), "%s", name) >= (int)sizeof(f->name))
        return error_set(ret_error, -ENAMETOOLONG, "%s: the name is too long",
                         name);
    err = hash_path(path, f);
    if (err != 0)
        return error_set(ret_error, err, "%s: %s", name, strerror(-err));
    m->n_alternatives++;
    return 0;
}

int manifest_add(struct manifest *m, const char *dir, const char *name,
                 enum manifest_role role, struct error *ret_error)
{
    struct manifest_file *f = &m->files[m->n_files];
    char path[PATH_MAX];
    int err;

    if (m->n_files == MANIFEST_FILES_MAX)
        return error_refuse(ret_error, "%s: one file too many", name);
    if (snprintf(f->name, sizeof(f->name), "%s", name) >=
            (int)sizeof(f->name) ||
        snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return error_refuse(ret_error, "%s: the name is too long", name);
    f->role = role;
    err = hash_path(path, f);
    if (err != 0)
        return error_set(ret_error, err, "%s: %s", name, strerror(-err));
    m->n_files++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct manifest_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Adds what sha256sum(1) prints for the file. */
static void add_line(EVP_MD_CTX *c, const struct manifest_file *f)
{
    char line[64 + 2 + MANIFEST_NAME_MAX + 1];
    size_t n = 0;

    for (size_t i = 0; i < sizeof(f->sha256); i++)
        n += (size_t)snprintf(line + n, 3, "%02x", f->sha256[i]);
    n += (size_t)snprintf(line + n, sizeof(line) - n, "  %s\n", f->name);
    (void)EVP_DigestUpdate(c, line, n); /* fails in EVP_DigestFinal then */
}

/* only_weights: the lines of the files with weights, nothing before them. */
static int digest(const struct manifest *m, bool only_weights,
                  uint8_t ret_digest[32])
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    char head[160];
    int n, good;

    if (c == NULL || EVP_DigestInit_ex(c, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(c);
        return -ENOMEM;
    }
    n = snprintf(head, sizeof(head),
                 "assay-manifest/1\nnumerics %s\nrecipe %s\n", m->numerics,
                 m->recipe[0] != '\0' ? m->recipe : "-");
    good = only_weights || EVP_DigestUpdate(c, head, (size_t)n) == 1;
    for (size_t i = 0; i < m->n_files; i++)
        if (!only_weights || m->files[i].role == MANIFEST_WEIGHTS)
            add_line(c, &m->files[i]);
    good = good && EVP_DigestFinal_ex(c, ret_digest, NULL) == 1;
    EVP_MD_CTX_free(c);
    return good ? 0 : -ENOMEM;
}

/* The digest of the file with this role. */
static void pick(const struct manifest *m, enum manifest_role role,
                 uint8_t ret_digest[32])
{
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == role)
            memcpy(ret_digest, m->files[i].sha256, 32);
}

int manifest_init(const char *numerics, const char *recipe,
                  struct manifest *ret_m)
{
    struct manifest m = {0};

    (void)snprintf(m.numerics, sizeof(m.numerics), "%s", numerics);
    (void)snprintf(m.recipe, sizeof(m.recipe), "%s", recipe);
    m.files = calloc(MANIFEST_FILES_MAX, sizeof *m.files);
    if (m.files == NULL)
        return -ENOMEM;
    *ret_m = m;
    return 0;
}

int manifest_finish(struct manifest *m)
{
    int err;

    qsort(m->files, m->n_files, sizeof *m->files, by_name);
    err = digest(m, false, m->manifest);
    if (err == 0)
        err = digest(m, true, m->weights);
    pick(m, MANIFEST_CONFIG, m->config);
    pick(m, MANIFEST_TOKENIZER, m->tokenizer);
    pick(m, MANIFEST_TEMPLATE, m->template);
    return err;
}

void manifest_fini(struct manifest *m)
{
    free(m->files);
    free(m->alternatives);
    m->files = m->alternatives = NULL;
}

static void record_file(struct record *r, const char *key,
                        const struct manifest_file *f)
{
    record_begin(r, key);
    record_add_text(r, span_str(f->name));
    record_add_u64(r, f->bytes);
    record_add_hex(r, span_of(f->sha256, 32));
    record_end(r);
}

bool manifest_record(const struct manifest *m, const char *model,
                     const char *engine, struct record *r)
{
    record_init(r);
    record_text(r, "model", span_str(model));
    record_hex(r, "manifest", span_of(m->manifest, 32));
    record_hex(r, "weights", span_of(m->weights, 32));
    record_hex(r, "config", span_of(m->config, 32));
    record_hex(r, "tokenizer", span_of(m->tokenizer, 32));
    record_hex(r, "template", span_of(m->template, 32));
    record_text(r, "engine", span_str(engine));
    record_text(r, "numerics", span_str(m->numerics));
    record_text(r, "recipe", span_str(m->recipe));
    record_text(r, "level", span_str(m->level));
    record_text(r, "needs", span_str(m->needs));
    for (size_t i = 0; i < m->n_files; i++)
        record_file(r, "file", &m->files[i]);
    for (size_t i = 0; i < m->n_alternatives; i++)
        record_file(r, "alternative", &m->alternatives[i]);
    return !r->full;
}
