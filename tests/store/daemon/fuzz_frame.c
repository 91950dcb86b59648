/*
 * fuzz_frame.c - any bytes on the store's socket: frames are taken one after
 * the other, everything in them lies within them, and a record's body that is
 * let in keeps the grammar.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/frame.h"
#include "store/kind.h"
#include "store/record.h"

static void check(bool good)
{
    if (!good)
        abort();
}

/* Reads every byte, so that one outside is seen. */
static void touch(struct span s)
{
    volatile uint8_t sum = 0;

    for (size_t i = 0; i < s.n; i++)
        sum = (uint8_t)(sum + s.p[i]);
}

static void try_put(struct span body)
{
    struct frame_put p;
    struct frame_out o = {0};

    if (frame_parse_put(body, &p) != PARSE_OK)
        return;
    frame_add_text(&o, p.kind);
    frame_add_be(&o, p.body.n, 4);
    frame_add(&o, p.body);
    frame_add_be(&o, p.n_payloads, 1);
    for (size_t i = 0; i < p.n_payloads; i++) {
        frame_add_text(&o, p.payload[i].name);
        frame_add_be(&o, p.payload[i].bytes.n, 4);
        frame_add(&o, p.payload[i].bytes);
    }
    check(!o.failed && span_eq(span_of(o.p, o.n), body));
    frame_out_fini(&o);
    for (const struct kind *k = kinds; k->name != NULL; k++) {
        const char *why = NULL;

        if (!record_check_body(k, p.body, &why))
            check(why != NULL);
    }
}

static void try_reveal(struct span body)
{
    struct frame_reveal r;

    if (frame_parse_reveal(body, &r) != PARSE_OK)
        return;
    check(r.unit.n == 32);
    touch(r.unit);
    touch(r.payload);
    touch(r.actor);
    touch(r.reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span bytes = span_of(data, n);
    struct frame f;
    size_t used;

    while (frame_parse(bytes, &f, &used) == PARSE_OK) {
        check(used >= FRAME_HEAD && used <= bytes.n);
        touch(f.body);
        try_put(f.body);
        try_reveal(f.body);
        bytes = span_of(bytes.p + used, bytes.n - used);
    }
    return 0;
}
