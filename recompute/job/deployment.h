/*
 * deployment.h - a model directory opened with all that a job needs of it: one
 * of Hugging Face's layout, run in our own numerics, or a deployment of
 * llama.cpp (llama/deployed.h). SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEPLOYMENT_H
#define DEPLOYMENT_H

#include "recompute/forward.h"
#include "recompute/manifest.h"

#include "recompute/request.h"

struct deployed;

struct served {
    struct deployed *llama; /* or NULL: then the others hold */
    struct model *model;
    struct forward *forward;
    struct tokenizer *tokenizer;
    const struct template *template;
    struct manifest manifest;
};

/* Opens dir with this many threads (0: all). Errors as model_open, and -EDOM:
 * the floating-point environment is not the default one. The caller ends
 * *ret_s with served_fini, after success only. */
int served_init(const char *dir, unsigned threads, struct served *ret_s,
                struct error *ret_error);
/* The same for a directory with an engine.json; recipes: their folder. */
int served_init_llama(const char *dir, const char *recipes, unsigned threads,
                      struct served *ret_s, struct error *ret_error);
void served_fini(struct served *s);
struct request_model served_request_model(const struct served *s);

#endif
