/*
 * deployment.h - a model directory, opened by the engine that owns it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEPLOYMENT_H
#define DEPLOYMENT_H

#include "recompute/engine.h"
#include "recompute/manifest.h"

struct deployment {
    const struct engine *engine;
    void *model; /* NULL: it could not be opened */
    struct manifest manifest;
};

/* The engine that owns dir, or NULL. */
const struct engine *deployment_engine(const char *dir);

/* Opens dir by this engine. Errors of engine.open and manifest_add. The caller
 * ends *ret_d with deployment_close, after success only. */
int deployment_open(const struct engine *e, const char *dir,
                    const struct engine_options *o, struct deployment *ret_d,
                    struct error *ret_error);
/* Of one that cannot be opened: no model, and a manifest that tells its
 * weights. Errors of manifest_add. */
int deployment_describe(const struct engine *e, const char *dir,
                        struct deployment *ret_d, struct error *ret_error);
void deployment_close(struct deployment *d);

/* Adds the files of its alternatives to the manifest. */
int deployment_add_alternatives(struct deployment *d, struct error *ret_error);

#endif
