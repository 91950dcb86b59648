/*
 * deployed.h - a deployment of llama.cpp opened with all that a job needs of
 * it.
 *
 * Comes in: a directory that holds engine.json (declaration.h) and one
 * GGUF file, and the folder of recipes. Goes out: the model, its text and its
 * chat template, and the recipe that covers the deployment. A deployment that
 * no recipe covers is refused, with the nearest recipe named.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_DEPLOYED_H
#define LLAMA_DEPLOYED_H

#include <stdbool.h>

#include "engine/llama/deployment/recipe.h"
#include "recompute/manifest.h"

struct gguf;
struct llama_chat;
struct llama_model;
struct llama_vocab;
struct pool;
struct error;

struct alternative;

struct deployed {
    struct gguf *gguf;
    struct llama_model *model;
    struct llama_vocab *text;
    const struct llama_chat *chat;
    struct recipe recipe;
    struct pool *pool;
    char types[16]; /* of most of its weights: "BF16" */
    /* What an answer that it does not give is tried with: the weights that
     * engine.json names, then its own by the recipes of other classes of
     * builds. */
    struct alternative *alternatives;
    size_t n_alternatives;
};

struct alternative {
    char words[192];   /* "Q8_0 weights, declared BF16" */
    struct deployed d; /* without alternatives of its own */
    bool own_recipe;   /* only the recipe is not the declared one's */
    char file[128];    /* of other weights, as engine.json names them */
    char *path;        /* where they lie */
};

/* The directory is one of these: it has an engine.json that names this engine,
 * or none, or that cannot be read. */
bool deployed_is(const char *dir);

/* The only file of dir whose name ends in .gguf; -EINVAL: none, or several. */
int deployed_find_gguf(const char *dir, char ret_name[MANIFEST_NAME_MAX],
                       struct error *ret_error);

/* -EINVAL: a file is refused; -ENOENT: no recipe covers it, or a file is not
 * there; ret_error says which.
 * Else the errno of reading. threads: of our own, 0: all. The caller ends
 * *ret_d with deployed_fini, after success only. */
int deployed_init(const char *dir, const char *recipes, unsigned threads,
                  struct deployed *ret_d, struct error *ret_error);
void deployed_fini(struct deployed *d);

/* No batch can change what this deployment computes, whatever else it ran or
 * had cached: its products are invariant, cells follow positions (-np), and
 * flash attention, whose rows do not depend on one another, is never tiled
 * (-ub below 64) and never split (-t 1, or fewer than 512 cells a slot).
 * Without flash attention a prompt's token that a neighbour cut off goes
 * another way than its fellows. */
bool deployed_invariant(const struct deployed *d);

#endif
