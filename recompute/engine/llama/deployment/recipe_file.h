/*
 * recipe_file.h - one file of the folder of recipes, read.
 *
 * Comes in: a libconfig file (recipe.h has its keys). Goes out: whose it is,
 * which builds it covers, its rules and variants. What it lacks is said with
 * file and line.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_RECIPE_FILE_H
#define LLAMA_RECIPE_FILE_H

#include <libconfig.h>
#include <stdbool.h>

struct build_name;
struct error;
struct recipe;

struct recipe_file {
    const char *path; /* borrowed */
    config_t config;
    const char *engine, *name, *ggml; /* of config */
};

/* -EINVAL: it cannot be read, or does not say whose it is. The caller ends
 * *ret_f with recipe_file_close, after success only. */
int recipe_file_open(const char *path, struct recipe_file *ret_f,
                     struct error *ret_error);
void recipe_file_close(struct recipe_file *f);

/* Each of the others: -EINVAL where what it asks for is not there. */
int recipe_file_covers(const struct recipe_file *f, const struct build_name *b,
                       bool *ret_covers, struct error *ret_error);
/* Fills all but variant and options. */
int recipe_file_rules(const struct recipe_file *f, struct recipe *ret_r,
                      struct error *ret_error);
int recipe_file_variants(const struct recipe_file *f); /* how many */
int recipe_file_variant(const struct recipe_file *f, int i,
                        struct recipe *ret_r, struct error *ret_error);

#endif
