/*
 * model_config.h - config.json and generation_config.json to checked numbers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "recompute/model.h"
#include "store/span.h"

/* Reads config.json's bytes. PARSE_BAD: ret_error says which key. */
enum parse model_config_read(struct span json, struct model_config *ret_c,
                             struct error *ret_error);
/* Adds the end tokens of generation_config.json. */
enum parse generation_config_read(struct span json, struct model_config *c,
                                  struct error *ret_error);
/* Both files of dir. Returns as model_open. */
int model_config_load(const char *dir, struct model_config *ret_c,
                      struct error *ret_error);

#endif
