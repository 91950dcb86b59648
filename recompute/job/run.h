/*
 * run.h - one job packet run once: from the request's bytes to the result.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RUN_H
#define RUN_H

#include "base/arena.h"
#include "recompute/engine.h"

struct deployment;

struct run {
    struct result result;
    struct arena memory; /* owns what the result points to */
    int64_t elapsed_ns;
};

struct run_options {
    const struct deployment *deployments;
    size_t n_deployments;
    const char *worker; /* name of this worker */
    bool any_manifest;  /* use the first one, whatever the packet says */
};

/* Never fails but for -ENOMEM: what cannot be run is a result with a reason.
 * The caller ends *ret_r with run_fini. */
int run_job(const struct run_options *o, const struct job *j, uint32_t run,
            struct run *ret_r);
void run_fini(struct run *r);

#endif
