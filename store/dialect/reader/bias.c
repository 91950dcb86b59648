/*
 * bias.c - logit_bias of a request: {"15043": -1, ...} (OpenAI), or as
 * llama-server has it as well [[15043, -1], ["word", false], ...]. false bans.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "dialect/reader/request.h"

/* A number, or false. */
static bool bias_value(const json_t *v, double *ret_bias)
{
    if (!json_is_number(v) && !json_is_false(v))
        return false;
    *ret_bias = json_is_false(v) ? -INFINITY : json_number_value(v);
    return true;
}

static bool add_bias(struct request_build *b, struct api_bias bias)
{
    struct api_bias *list =
        memory_grow(b->m, b->r->biases, b->r->n_biases, sizeof *list);

    if (list == NULL)
        return true; /* memory says so at the end */
    b->r->biases = list;
    list[b->r->n_biases++] = bias;
    return true;
}

/* An id in digits, or a word. */
static bool add_named(struct request_build *b, struct span name,
                      const json_t *v)
{
    struct api_bias bias = {.id = 0};

    if (!bias_value(v, &bias.bias))
        return false;
    for (size_t i = 0; i < name.n && bias.id != TOKEN_NONE; i++)
        bias.id = name.p[i] >= '0' && name.p[i] <= '9' && bias.id < UINT32_MAX
                      ? bias.id * 10 + (name.p[i] - '0')
                      : TOKEN_NONE;
    if (name.n == 0 || bias.id == TOKEN_NONE) {
        bias.id = TOKEN_NONE;
        bias.text = memory_copy(b->m, name);
    }
    return add_bias(b, bias);
}

static bool add_pair(struct request_build *b, const json_t *pair)
{
    const json_t *token = json_array_get(pair, 0);
    const json_t *value = json_array_get(pair, 1);
    struct api_bias bias = {.id = TOKEN_NONE};

    if (json_array_size(pair) != 2 || !bias_value(value, &bias.bias))
        return false;
    if (json_is_string(token)) {
        bias.text = memory_copy(b->m, json_text(token));
        return add_bias(b, bias);
    }
    return json_whole(token, 0, UINT32_MAX, &bias.id) && add_bias(b, bias);
}

bool read_biases(struct request_build *b, const json_t *v,
                 const struct request_key *k)
{
    bool good = json_is_object(v) || json_is_array(v);
    const char *name;
    json_t *value;
    size_t len;

    (void)k;
    /* The iteration only reads. */
    json_object_keylen_foreach((json_t *)(uintptr_t)v, name, len, value)
    {
        good = add_named(b, span_of(name, len), value) && good;
    }
    for (size_t i = 0; i < json_array_size(v); i++)
        good = add_pair(b, json_array_get(v, i)) && good;
    return good;
}
