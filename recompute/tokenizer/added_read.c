/*
 * added_read.c - reading the list of added tokens: added.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "tokenizer/added.h"
#include "tokenizer/pattern/form.h"
#include "tokenizer/pattern/pattern.h"
#include "tokenizer/pattern/unicode.h"

static int read_flags(const json_t *v, struct added_token *t, struct error *w)
{
    static const char *const keys[] = {"id",      "content", "single_word",
                                       "lstrip",  "rstrip",  "normalized",
                                       "special", NULL};
    struct {
        const char *key;
        bool *flag;
    } const flags[] = {
        {"single_word", &t->single_word}, {"lstrip", &t->lstrip},
        {"rstrip", &t->rstrip},           {"normalized", &t->normalized},
        {"special", &t->special},
    };
    const struct form f = {v, "added_tokens", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = form_number(&f, "id", VOCABULARY_IDS_MAX - 1, &t->id);
    for (size_t i = 0; err == 0 && i < sizeof flags / sizeof *flags; i++)
        if (!json_is_boolean(json_object_get(v, flags[i].key)))
            err = error_refuse(w, "added_tokens: %s is not true or false",
                               flags[i].key);
        else
            *flags[i].flag = json_is_true(json_object_get(v, flags[i].key));
    return err;
}

static int keep(struct span s, uint8_t **ret_p, size_t *ret_n)
{
    *ret_p = malloc(s.n + 1);
    if (*ret_p == NULL)
        return -ENOMEM;
    memcpy(*ret_p, s.p, s.n);
    *ret_n = s.n;
    return 0;
}

static int read_content(const json_t *v, const struct normalizer *n,
                        struct added_token *t, struct error *w)
{
    struct buffer sought = {0};
    struct span s;
    const struct form f = {v, "added_tokens", w};
    int err = form_text(&f, "content", &s);

    if (err == 0 && s.n == 0)
        err = error_refuse(w, "added_tokens: an empty name");
    if (err == 0)
        err = keep(s, &t->content, &t->n_content);
    if (err != 0)
        return err;
    buffer_add(&sought, s);
    if (t->normalized)
        err = normalizer_apply(n, &sought);
    if (err == 0 && sought.failed)
        err = -ENOMEM;
    if (err == 0 && sought.n == 0)
        err =
            error_refuse(w, "added_tokens: a name that normalises to nothing");
    if (err == 0)
        err = keep(span_of(sought.p, sought.n), &t->sought, &t->n_sought);
    buffer_fini(&sought);
    return err;
}

/* The id of a name that is not in the vocabulary: the next after all. */
static uint32_t next_id(const struct added *a, const struct vocabulary *v)
{
    uint32_t next = (uint32_t)v->n;

    for (size_t i = 0; i < a->n; i++)
        if (a->tokens[i].id >= next)
            next = a->tokens[i].id + 1;
    return next;
}

static int check_id(const struct added *a, const struct added_token *t,
                    const struct vocabulary *v, struct error *w)
{
    struct span name = span_of(t->content, t->n_content);
    uint32_t id;

    if (!vocabulary_find(v, name, &id))
        id = next_id(a, v);
    if (id != t->id)
        return error_refuse(w, "added_tokens: id %u would be read as %u", t->id,
                            id);
    for (size_t i = 0; i < a->n; i++)
        if (a->tokens[i].id == t->id)
            return error_refuse(w, "added_tokens: id %u stands twice", t->id);
    return 0;
}

static int by_sought(const void *x, const void *y)
{
    const struct added_token *a = *(const struct added_token *const *)x;
    const struct added_token *b = *(const struct added_token *const *)y;
    size_t n = a->n_sought < b->n_sought ? a->n_sought : b->n_sought;
    int order = memcmp(a->sought, b->sought, n);

    if (order != 0)
        return order;
    return (a->n_sought > b->n_sought) - (a->n_sought < b->n_sought);
}

static int sort_set(const struct added *a, bool normalized,
                    struct added_set *ret_s, struct error *w)
{
    ret_s->v = calloc(a->n + 1, sizeof *ret_s->v);
    if (ret_s->v == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < a->n; i++)
        if (a->tokens[i].normalized == normalized)
            ret_s->v[ret_s->n++] = &a->tokens[i];
    qsort(ret_s->v, ret_s->n, sizeof *ret_s->v, by_sought);
    for (size_t i = 1; i < ret_s->n; i++)
        if (by_sought(&ret_s->v[i - 1], &ret_s->v[i]) == 0)
            return error_refuse(w, "added_tokens: two names are the same text");
    return 0;
}

static int open_patterns(struct added *a, struct error *w)
{
    const char *word = unicode_class(span_str("word"));
    char *text = malloc(strlen(word) + 16);
    int err;

    if (text == NULL)
        return -ENOMEM;
    (void)sprintf(text, "\\A[%s]", word); /* fits: 16 more than word */
    err = pattern_native(text, &a->word_first, w);
    if (err == 0) {
        (void)sprintf(text, "[%s]\\z", word); /* fits as above */
        err = pattern_native(text, &a->word_last, w);
    }
    free(text);
    if (err == 0)
        err = pattern_native("\\A\\p{White_Space}+", &a->space_first, w);
    if (err == 0)
        err = pattern_native("\\A\\p{White_Space}\\z", &a->space_last, w);
    return err;
}

int added_init(const json_t *list, const struct vocabulary *v,
               const struct normalizer *n, struct added *ret_a, struct error *w)
{
    struct added *a = ret_a;
    int err;

    *a = (struct added){0};
    if (list != NULL && !json_is_array(list))
        return error_refuse(w, "added_tokens is not a list");
    a->tokens = calloc(json_array_size(list) + 1, sizeof *a->tokens);
    if (a->tokens == NULL)
        return -ENOMEM;
    err = open_patterns(a, w);
    for (size_t i = 0; err == 0 && i < json_array_size(list); i++) {
        struct added_token *t = &a->tokens[a->n];

        err = read_flags(json_array_get(list, i), t, w);
        if (err == 0)
            err = read_content(json_array_get(list, i), n, t, w);
        if (err == 0)
            err = check_id(a, t, v, w);
        a->n++;
    }
    if (err == 0)
        err = sort_set(a, false, &a->raw, w);
    return err != 0 ? err : sort_set(a, true, &a->normal, w);
}
