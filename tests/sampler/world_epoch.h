/*
 * world_epoch.h - between world.c, which holds the log, and world_epoch.c,
 * which lives its epochs.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SAMPLER_WORLD_EPOCH_H
#define TESTS_SAMPLER_WORLD_EPOCH_H

#include "world.h"

#define WORLD_POLICY                                                       \
    "assay-policy/v1\nconfidence 95%\nparty auditor\nreveal_within 3600\n" \
    "answer_within 3600\nstratum cut incomplete draw all\n"                \
    "stratum rest any draw 12\n"

/* Is this lie told, and now? */
bool world_lies(const struct world *w, enum lie lie);
/* Returns the new leaf's seq. */
uint64_t world_add(struct world *w, const char *kind, const struct record *r);
void world_unit(const struct world *w, uint64_t seq, uint8_t unit[32]);
void world_head(const struct world *w, struct merkle_head *ret_head);
void world_sign(struct world *w);
void world_enrol(struct world *w, const uint8_t head[32], uint64_t epoch);
/* in_force: later epochs are made by it. */
void world_policy(struct world *w, const char *text, bool in_force);
void world_epoch(struct world *w, uint64_t epoch);

#endif
