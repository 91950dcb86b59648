/*
 * deployment.c - a model directory opened with all that a job needs:
 * deployment.h. SPDX-License-Identifier: Apache-2.0
 */
#include "job/deployment.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/deployed.h"
#include "recompute/model.h"
#include "recompute/template.h"
#include "recompute/tokenizer.h"

int served_init(const char *dir, unsigned threads, struct served *ret_s,
                struct error *ret_error)
{
    struct forward_options options = {.threads = threads};
    struct served s = {0};
    int err = model_open(dir, &s.model, ret_error);

    if (err == 0)
        err = forward_open(s.model, &options, &s.forward);
    if (err == 0)
        err = tokenizer_open(dir, &s.tokenizer, ret_error);
    if (err == 0)
        err = template_open(dir, &s.template, ret_error);
    if (err == 0)
        err = manifest_init(dir, "fixed", "", &s.manifest, ret_error);
    if (err != 0) {
        tokenizer_close(s.tokenizer);
        if (s.forward != NULL)
            forward_close(s.forward);
        if (s.model != NULL)
            model_close(s.model);
        return err;
    }
    *ret_s = s;
    return 0;
}

int served_init_llama(const char *dir, const char *recipes, unsigned threads,
                      struct served *ret_s, struct error *ret_error)
{
    struct served s = {.llama = calloc(1, sizeof *s.llama)};
    int err = s.llama == NULL ? -ENOMEM : 0;

    if (err == 0)
        err = deployed_init(dir, recipes, threads, s.llama, ret_error);
    if (err == 0) {
        err = manifest_init(dir, "ggml", s.llama->recipe.name, &s.manifest,
                            ret_error);
        if (err != 0)
            deployed_fini(s.llama);
    }
    if (err != 0) {
        free(s.llama);
        return err;
    }
    *ret_s = s;
    return 0;
}

void served_fini(struct served *s)
{
    manifest_fini(&s->manifest);
    if (s->llama != NULL) {
        deployed_fini(s->llama);
        free(s->llama);
        return;
    }
    tokenizer_close(s->tokenizer);
    forward_close(s->forward);
    model_close(s->model);
}

struct request_model served_request_model(const struct served *s)
{
    return (struct request_model){s->tokenizer, s->template,
                                  model_config(s->model)};
}
