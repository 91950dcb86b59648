/*
 * json.c - jansson behind spans.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/reader/json.h"

/* Past the string whose opening quote stands before p. */
static const uint8_t *skip_string(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return p + 1;
}

bool json_is_too_much(struct span text)
{
    const uint8_t *p = text.p, *end = p + text.n;
    size_t n = 1; /* each value but the first stands behind one of these */

    if (text.n <= JSON_VALUES_MAX)
        return false;
    while (p < end) {
        n += *p == ',' || *p == '[' || *p == '{';
        p = *p == '"' ? skip_string(p + 1, end) : p + 1;
    }
    return n > JSON_VALUES_MAX;
}

json_t *json_read(struct span text)
{
    json_error_t error;

    if (text.n == 0)
        return NULL;
    return json_loadb((const char *)text.p, text.n,
                      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
}

json_t *json_member(const json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);

    return json_is_null(v) ? NULL : v;
}

struct span json_text(const json_t *string)
{
    if (!json_is_string(string))
        return span_of(NULL, 0);
    return span_of(json_string_value(string), json_string_length(string));
}

struct span json_member_text(struct dialect_memory *m, const json_t *object,
                             const char *key)
{
    const json_t *v = json_member(object, key);

    return json_is_string(v) ? memory_copy(m, json_text(v)) : span_of(NULL, 0);
}

bool json_whole(const json_t *v, int64_t min, int64_t max, int64_t *ret_v)
{
    const double beyond = 9223372036854775808.0; /* 2^63 */
    int64_t whole;

    if (json_is_integer(v)) {
        whole = json_integer_value(v);
    } else if (json_is_real(v)) {
        double d = json_real_value(v);

        if (!(d >= -beyond && d < beyond) || d != (double)(int64_t)d)
            return false;
        whole = (int64_t)d;
    } else {
        return false;
    }
    if (whole < min || whole > max)
        return false;
    *ret_v = whole;
    return true;
}

bool json_count(const json_t *v, uint64_t *ret_v)
{
    int64_t whole;

    if (!json_whole(v, 0, INT64_MAX, &whole))
        return false;
    *ret_v = (uint64_t)whole;
    return true;
}
