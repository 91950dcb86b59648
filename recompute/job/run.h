/*
 * run.h - one job packet run once: from the request's bytes to the result.
 *
 * Blind: generates. Forced: one pass over prompt and claimed ids gives the
 * token that would have been chosen at each claimed position; the choice's
 * tokens end where the answer would have ended, and `finish` is empty where it
 * would have gone on past the last claimed token.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RUN_H
#define RUN_H

#include "base/arena.h"
#include "store/job.h"

struct served;

struct outcome {
    struct result result;
    struct arena arena; /* owns what the result points to */
    int64_t elapsed_ns;
};

struct run_options {
    const struct served *models;
    size_t n_models;
    const char *worker; /* name of this worker */
    bool any_manifest;  /* use the first model, whatever the packet says */
};

/* Never fails but for -ENOMEM: what cannot be run is a result with a reason.
 * The caller ends *ret_o with run_fini. */
int run_job(const struct run_options *o, const struct job *j, uint32_t run,
            struct outcome *ret_o);
void run_fini(struct outcome *o);

#endif
