/*
 * deployments.h - the model directories of the settings, opened.
 *
 * One that cannot be opened keeps no other from being served: it is logged, and
 * its jobs are answered no_recipe.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEPLOYMENTS_H
#define DEPLOYMENTS_H

#include "job/deployment.h"

struct settings;

struct deployments {
    struct deployment *v;
    size_t n;
};

/* Opens every directory of recompute.models. -EDOM: this process cannot
 * compute; -ENOMEM. */
int deployments_open_all(const struct settings *s, struct deployments *ret_d);
/* One directory, as the settings say (s may be NULL); facts_only as in
 * engine.h. What is wrong is logged; errors of deployment_open, -ENOTSUP: no
 * engine owns it. */
int deployments_open_one(const struct settings *s, const char *dir,
                         bool facts_only, struct deployment *ret_d);
void deployments_close(struct deployments *d);

#endif
