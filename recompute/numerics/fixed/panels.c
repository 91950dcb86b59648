/*
 * panels.c - weights in the order in which the kernels read them.
 * Comes in: row-major rows as they lie in a safetensors file. Goes out: panels
 * of 16 outputs (kernels.h). Also the end of every sum in lanes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/fixed/fixed.h"
#include "numerics/fixed/fixed_math.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "panels and safetensors are read as little endian");

static size_t element_bytes(enum fixed_type type)
{
    return type == FIXED_F32 ? 4 : 2;
}

size_t fixed_panel_bytes(enum fixed_type type, size_t k)
{
    size_t even = type == FIXED_BF16 ? k + (k & 1) : k;
    size_t bytes = even * FIXED_PANEL * element_bytes(type);

    return (bytes + 63) & ~(size_t)63;
}

/* Where element (column, i) of a panel lies, counted in elements. */
static size_t panel_index(enum fixed_type type, size_t column, size_t i)
{
    if (type == FIXED_BF16)
        return (i / 2 * FIXED_PANEL + column) * 2 + i % 2;
    return i * FIXED_PANEL + column;
}

void fixed_panel_pack(const struct fixed_panels *w, const uint8_t *const *row,
                      size_t n, void *panel)
{
    memset(panel, 0, fixed_panel_bytes(w->type, w->k));
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < w->k; i++) {
            size_t to = panel_index(w->type, c, i);

            if (w->type == FIXED_F32)
                memcpy((uint8_t *)panel + to * 4, row[c] + i * 4, 4);
            else
                memcpy((uint8_t *)panel + to * 2, row[c] + i * 2, 2);
        }
}

float fixed_panel_weight(const struct fixed_panels *w, size_t o, size_t i)
{
    const uint8_t *p =
        (const uint8_t *)w->data + o / FIXED_PANEL * w->pitch +
        panel_index(w->type, o % FIXED_PANEL, i) * element_bytes(w->type);
    float x;
    uint16_t h;

    if (w->type == FIXED_F32) {
        memcpy(&x, p, sizeof(x));
        return x;
    }
    memcpy(&h, p, sizeof(h));
    return w->type == FIXED_F16 ? float_from_f16(h) : float_from_bf16(h);
}

float fixed_lanes_sum(float lane[FIXED_LANES])
{
    for (size_t apart = FIXED_LANES / 2; apart > 0; apart /= 2)
        for (size_t l = 0; l < apart; l++)
            lane[l] = lane[l] + lane[l + apart];
    return lane[0];
}
