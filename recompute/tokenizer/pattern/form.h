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

/* v is an object and every key of it is among names (NULL at the end). */
int form_keys(const json_t *v, const char *where, const char *const *names,
              struct error *w);
/* The key's value. Missing or null: fallback. */
int form_bool(const json_t *v, const char *where, const char *key,
              bool fallback, bool *ret_b, struct error *w);
/* Missing: refused. */
int form_text(const json_t *v, const char *where, const char *key,
              struct span *ret_s, struct error *w);
/* A whole number from 0 to max. */
int form_number(const json_t *v, const char *where, const char *key,
                uint32_t max, uint32_t *ret_n, struct error *w);
/* A text of exactly one character. */
int form_character(const json_t *v, const char *where, const char *key,
                   struct span *ret_s, struct error *w);
struct span form_span(const json_t *text);
/* The text at "type", or "" - never NULL. */
const char *form_type(const json_t *v);

#endif
