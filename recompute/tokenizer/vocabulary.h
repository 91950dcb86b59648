/*
 * vocabulary.h - names of tokens to ids and back.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include "store/span.h"

#include <jansson.h>

struct error;

enum { VOCABULARY_IDS_MAX = 1 << 24 };

struct vocabulary {
    uint8_t *text;      /* all names */
    struct span *names; /* by id; p NULL: no such token */
    size_t n_names;     /* one more than the largest id */
    size_t n;           /* tokens */
    uint32_t *slots;    /* ids by hash of the name, open addressing */
    size_t n_slots;     /* a power of two */
};

/* object: {"name": id, ...}. The caller ends *ret_v with vocabulary_fini, even
 * after a failure. */
int vocabulary_init(const json_t *object, struct vocabulary *ret_v,
                    struct error *w);
/* Ids are the places in the list; no name stands twice. The same end. */
int vocabulary_of_names(const struct span *names, size_t n,
                        struct vocabulary *ret_v, struct error *w);
void vocabulary_fini(struct vocabulary *v);
bool vocabulary_find(const struct vocabulary *v, struct span name,
                     uint32_t *ret_id);
/* p NULL: none. */
struct span vocabulary_name(const struct vocabulary *v, uint32_t id);

#endif
