/*
 * vocabulary.c - names of tokens to ids and back: vocabulary.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/vocabulary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"

enum { EMPTY = 0xffffffff };

/* FNV-1a, 64 bits, folded. The file is the operator's own. */
static size_t hash(struct span s)
{
    uint64_t h = 0xcbf29ce484222325;

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ s.p[i]) * 0x100000001b3;
    return (size_t)(h ^ h >> 32);
}

/* The slot of the name, or the empty one where it would stand. */
static size_t slot_of(const struct vocabulary *v, struct span name)
{
    size_t i = hash(name) & (v->n_slots - 1);

    while (v->slots[i] != EMPTY && !span_eq(v->names[v->slots[i]], name))
        i = (i + 1) & (v->n_slots - 1);
    return i;
}

/* Sizes of what is to be stored; also checks every id. */
static int measure(const json_t *object, struct vocabulary *v, size_t *ret_n,
                   struct error *w)
{
    const char *name;
    json_t *id;

    *ret_n = 0;
    json_object_foreach((json_t *)object, name, id) {
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) >= VOCABULARY_IDS_MAX)
            return error_refuse(w, "model.vocab: \"%.60s\" has no usable id",
                                name);
        if ((size_t)json_integer_value(id) >= v->n_names)
            v->n_names = (size_t)json_integer_value(id) + 1;
        *ret_n += strlen(name);
        v->n++;
    }
    return 0;
}

/* Room for n names of `bytes` bytes together. */
static int allocate(struct vocabulary *v, size_t bytes)
{
    v->n_slots = 2;
    while (v->n_slots < 2 * v->n)
        v->n_slots *= 2;
    v->text = malloc(bytes + 1);
    v->names = calloc(v->n_names + 1, sizeof *v->names);
    v->slots = malloc(v->n_slots * sizeof *v->slots);
    if (v->text == NULL || v->names == NULL || v->slots == NULL)
        return -ENOMEM;
    memset(v->slots, 0xff, v->n_slots * sizeof *v->slots);
    return 0;
}

/* Copies a name to *at and moves that on. False: it is there already. */
static bool put(struct vocabulary *v, size_t id, struct span name, uint8_t **at)
{
    size_t slot;

    v->names[id] = span_of(*at, name.n);
    if (name.n != 0)
        memcpy(*at, name.p, name.n);
    *at += name.n;
    slot = slot_of(v, v->names[id]);
    if (v->slots[slot] != EMPTY)
        return false;
    v->slots[slot] = (uint32_t)id;
    return true;
}

static int fill(const json_t *object, struct vocabulary *v, struct error *w)
{
    uint8_t *at = v->text;
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value) {
        size_t id = (size_t)json_integer_value(value);

        if (v->names[id].p != NULL)
            return error_refuse(w, "model.vocab: the id %zu has two names", id);
        (void)put(v, id, span_str(name), &at); /* keys of an object differ */
    }
    return 0;
}

int vocabulary_init(const json_t *object, struct vocabulary *ret_v,
                    struct error *w)
{
    size_t bytes;
    int err;

    *ret_v = (struct vocabulary){0};
    if (!json_is_object(object))
        return error_refuse(w, "model.vocab is not an object");
    err = measure(object, ret_v, &bytes, w);
    if (err == 0)
        err = allocate(ret_v, bytes);
    return err != 0 ? err : fill(object, ret_v, w);
}

int vocabulary_of_names(const struct span *names, size_t n,
                        struct vocabulary *ret_v, struct error *w)
{
    size_t bytes = 0;
    uint8_t *at;
    int err;

    *ret_v = (struct vocabulary){.n_names = n, .n = n};
    if (n > VOCABULARY_IDS_MAX)
        return error_refuse(w, "more than %d tokens", VOCABULARY_IDS_MAX);
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(bytes, names[i].n, &bytes))
            return -ENOMEM;
    err = allocate(ret_v, bytes);
    if (err != 0)
        return err;
    at = ret_v->text;
    for (size_t i = 0; i < n; i++)
        if (!put(ret_v, i, names[i], &at))
            return error_refuse(w, "token %zu has the name of an earlier one",
                                i);
    return 0;
}

void vocabulary_fini(struct vocabulary *v)
{
    free(v->text);
    free(v->names);
    free(v->slots);
}

bool vocabulary_find(const struct vocabulary *v, struct span name,
                     uint32_t *ret_id)
{
    uint32_t id = v->slots[slot_of(v, name)];

    if (id == EMPTY)
        return false;
    *ret_id = id;
    return true;
}

struct span vocabulary_name(const struct vocabulary *v, uint32_t id)
{
    return id < v->n_names ? v->names[id] : span_of(NULL, 0);
}
