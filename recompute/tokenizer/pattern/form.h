/*
 * form.h - reading the objects of a tokenizer.json: what is there must be
 * known, and must have its type. All texts are borrowed from the JSON tree.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FORM_H
#define FORM_H

#include "store/span.h"

#include <jansson.h>

struct error;

/* An object that is read: what it is called, and where an error is said. */
struct form {
    const json_t *v;
    const char *where;
    struct error *error;
};

/* It is an object and every key of it is among names (NULL at the end). */
int form_keys(const struct form *f, const char *const *names);
/* The key's value. Missing or null: fallback. */
int form_bool(const struct form *f, const char *key, bool fallback,
              bool *ret_b);
/* Missing: refused. */
int form_text(const struct form *f, const char *key, struct span *ret_s);
/* A whole number from 0 to max. */
int form_number(const struct form *f, const char *key, uint32_t max,
                uint32_t *ret_n);
/* A text of exactly one character. */
int form_character(const struct form *f, const char *key, struct span *ret_s);
struct span form_span(const json_t *text);
/* The text at "type", or "" - never NULL. */
const char *form_type(const json_t *v);

#endif
