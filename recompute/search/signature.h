/*
 * signature.h - a number for how something was computed, made of its parts in
 * their order, so that equal numbers mean equal parts; and sets of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_SIGNATURE_H
#define SEARCH_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t signature_mix(uint64_t h, uint64_t part);

/* Starts as {0}. */
struct signature_set {
    uint64_t *list;
    size_t n, size;
};

bool signature_set_has(const struct signature_set *s, uint64_t signature);
/* *ret_new: it was not there. -ENOMEM. */
int signature_set_add(struct signature_set *s, uint64_t signature,
                      bool *ret_new);
void signature_set_fini(struct signature_set *s);

#endif
