/*
 * form.c - reading the objects of a tokenizer.json: form.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/pattern/form.h"

#include <string.h>

#include "recompute/error.h"
#include "store/utf8.h"

static bool known(const char *key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

int form_keys(const struct form *f, const char *const *names)
{
    const char *key;
    json_t *value;

    if (!json_is_object(f->v))
        return error_refuse(f->error, "%s is not an object", f->where);
    json_object_foreach((json_t *)f->v, key, value)
        if (!known(key, names))
            return error_refuse(f->error, "%s: the key \"%.60s\" is not known",
                                f->where, key);
    return 0;
}

int form_bool(const struct form *f, const char *key, bool fallback, bool *ret_b)
{
    const json_t *b = json_object_get(f->v, key);

    if (b == NULL || json_is_null(b)) {
        *ret_b = fallback;
        return 0;
    }
    if (!json_is_boolean(b))
        return error_refuse(f->error, "%s.%s is not true or false", f->where,
                            key);
    *ret_b = json_is_true(b);
    return 0;
}

struct span form_span(const json_t *text)
{
    return span_of(json_string_value(text), json_string_length(text));
}

int form_text(const struct form *f, const char *key, struct span *ret_s)
{
    const json_t *s = json_object_get(f->v, key);

    if (!json_is_string(s))
        return error_refuse(f->error, "%s.%s is not a text", f->where, key);
    *ret_s = form_span(s);
    return 0;
}

int form_number(const struct form *f, const char *key, uint32_t max,
                uint32_t *ret_n)
{
    const json_t *n = json_object_get(f->v, key);

    if (!json_is_integer(n) || json_integer_value(n) < 0 ||
        json_integer_value(n) > max)
        return error_refuse(f->error, "%s.%s is not a number from 0 to %u",
                            f->where, key, max);
    *ret_n = (uint32_t)json_integer_value(n);
    return 0;
}

int form_character(const struct form *f, const char *key, struct span *ret_s)
{
    size_t n;
    int err = form_text(f, key, ret_s);

    if (err != 0)
        return err;
    if (ret_s->n == 0 || utf8_step(*ret_s, &n) != PARSE_OK || n != ret_s->n)
        return error_refuse(f->error, "%s.%s is not one character", f->where,
                            key);
    return 0;
}

const char *form_type(const json_t *v)
{
    const char *type = json_string_value(json_object_get(v, "type"));

    return type == NULL ? "" : type;
}
