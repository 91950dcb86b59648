/*
 * sequence.c - keys and values of one sequence.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/assay/kv_panels.h"
#include "recompute/model_config.h"

static size_t up_to_panel(size_t n)
{
    return (n + FIXED_PANEL - 1) / FIXED_PANEL * FIXED_PANEL;
}

int sequence_open(const struct model_config *c, size_t max_tokens,
                  struct sequence **ret_s)
{
    struct sequence *s;
    size_t heads = (size_t)c->layers * c->kv_heads;

    if (max_tokens == 0 || max_tokens > c->context)
        return -EINVAL;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    s->config = c;
    s->limit = max_tokens;
    s->capacity = up_to_panel(max_tokens);
    s->head_floats = s->capacity * up_to_panel(c->head_dim);
    /* Zeros: a panel is read whole before all of its positions are there. */
    s->keys = calloc(heads, s->head_floats * sizeof(float));
    s->values = calloc(heads, s->head_floats * sizeof(float));
    if (s->keys == NULL || s->values == NULL) {
        sequence_close(s);
        return -ENOMEM;
    }
    *ret_s = s;
    return 0;
}

void sequence_close(struct sequence *s)
{
    if (s == NULL)
        return;
    free(s->keys);
    free(s->values);
    free(s);
}

size_t sequence_length(const struct sequence *s)
{
    return s->length;
}

size_t sequence_capacity(const struct sequence *s)
{
    return s->limit;
}

static size_t head_offset(const struct sequence *s, size_t layer, size_t head)
{
    return (layer * s->config->kv_heads + head) * s->head_floats;
}

struct fixed_panels sequence_keys(const struct sequence *s, size_t layer,
                                  size_t head, size_t n)
{
    return (struct fixed_panels){
        .type = FIXED_F32,
        .n = n,
        .k = s->config->head_dim,
        .pitch = s->config->head_dim * FIXED_PANEL * sizeof(float),
        .data = s->keys + head_offset(s, layer, head),
    };
}

struct fixed_panels sequence_values(const struct sequence *s, size_t layer,
                                    size_t head, const size_t range[2])
{
    return (struct fixed_panels){
        .type = FIXED_F32,
        .n = s->config->head_dim,
        .k = range[1] - range[0],
        .pitch = s->capacity * FIXED_PANEL * sizeof(float),
        .data =
            s->values + head_offset(s, layer, head) + range[0] * FIXED_PANEL,
    };
}

void sequence_put(struct sequence *s, struct kv_slot at, const float *key,
                  const float *value)
{
    size_t width = s->config->head_dim, p = at.position;
    size_t offset = head_offset(s, at.layer, at.head);
    float *k = s->keys + offset + p / FIXED_PANEL * width * FIXED_PANEL +
               p % FIXED_PANEL;
    float *v = s->values + offset + p * FIXED_PANEL;

    for (size_t i = 0; i < width; i++) {
        k[i * FIXED_PANEL] = key[i];
        v[i / FIXED_PANEL * s->capacity * FIXED_PANEL + i % FIXED_PANEL] =
            value[i];
    }
}
