/*
 * deployments.h - the model directories of the settings, opened.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEPLOYMENTS_H
#define DEPLOYMENTS_H

#include "job/deployment.h"

struct settings;

struct models {
    struct served *v;
    size_t n;
};

/* Opens every directory of recompute.models; what is wrong is logged. */
int models_open_all(const struct settings *s, struct models *ret_m);
/* One directory, with the threads of the settings (s may be NULL). */
int models_open_one(const struct settings *s, const char *dir,
                    struct models *ret_m);
/* The folder of recipes; of settings NULL: their default. */
const char *models_recipes(const struct settings *s);
void models_close(struct models *m);

#endif
