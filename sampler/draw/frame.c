/*
 * frame.c - the sampling frame: entries and their root.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"

void frame_init(struct frame *f)
{
    memset(f, 0, sizeof *f);
}

void frame_fini(struct frame *f)
{
    free(f->units);
    frame_init(f);
}

int frame_append(struct frame *f, const struct frame_unit *u)
{
    struct frame_unit *units =
        array_grow(f->units, &f->size, f->n, 1, sizeof *units);

    if (units == NULL)
        return -ENOMEM;
    f->units = units;
    f->units[f->n++] = *u;
    return 0;
}

static void put_be(uint8_t *out, size_t n, uint64_t value)
{
    while (n-- > 0) {
        out[n] = (uint8_t)value;
        value >>= 8;
    }
}

void frame_entry(const struct frame *f, size_t index,
                 uint8_t ret_entry[FRAME_ENTRY])
{
    const struct frame_unit *u = &f->units[index];

    put_be(ret_entry, 8, index);
    put_be(ret_entry + 8, 4, u->stratum);
    put_be(ret_entry + 12, 8, u->weight);
    memcpy(ret_entry + 20, u->unit, MERKLE_HASH);
}

void frame_root(const struct frame *f, uint8_t ret_root[MERKLE_HASH])
{
    struct merkle_range r;
    uint8_t entry[FRAME_ENTRY], leaf[MERKLE_HASH];

    merkle_range_init(&r);
    for (size_t i = 0; i < f->n; i++) {
        frame_entry(f, i, entry);
        merkle_leaf(span_of(entry, sizeof entry), leaf);
        merkle_range_append(&r, leaf);
    }
    merkle_range_root(&r, ret_root);
}
