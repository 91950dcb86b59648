/*
 * model.c - a model directory, opened: its configuration, its tensors, its
 * weights in the kernels' order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/model.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/assay/weights.h"
#include "recompute/error.h"
#include "recompute/model_config.h"

int model_open(const char *dir, struct model **ret_m, struct error *ret_error)
{
    struct model *m = calloc(1, sizeof *m);
    int err;

    if (m == NULL)
        return error_set(ret_error, -ENOMEM, "no memory");
    err = model_config_load(dir, &m->config, ret_error);
    if (err == 0)
        err = tensors_open(dir, &m->tensors, ret_error);
    if (err == 0)
        err = weights_load(m, ret_error);
    if (err != 0) {
        model_close(m);
        return err;
    }
    *ret_m = m;
    return 0;
}

void model_close(struct model *m)
{
    if (m == NULL)
        return;
    weights_free(m);
    tensors_close(&m->tensors);
    free(m);
}

const struct model_config *model_config(const struct model *m)
{
    return &m->config;
}
