/*
 * seed.c - the seed text and the VRF's input.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/seed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "seed/hex.h"
#include "store/base64.h"
#include "store/sha256.h"

struct text {
    char *p;
    size_t n, size;
    bool full;
};

static void add(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (t->full)
        return;
    va_start(ap, fmt);
    n = vsnprintf(t->p + t->n, t->size - t->n, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= t->size - t->n)
        t->full = true;
    else
        t->n += (size_t)n;
}

size_t seed_make(const struct seed_input *in, char ret_text[SEED_TEXT],
                 uint8_t ret_seed[SEED_BYTES])
{
    struct text t = {ret_text, 0, SEED_TEXT, false};
    char root[48], policy[48], hex[HEX_TEXT(32)];

    base64_encode(span_of(in->frame_root, 32), root);
    base64_encode(span_of(in->policy, 32), policy);
    add(&t, "assay-seed/v1\norigin %s\nepoch %" PRIu64 "\n", in->origin,
        in->epoch);
    add(&t, "frame %" PRIu64 " %s\npolicy %s\n", in->units, root, policy);
    for (size_t i = 0; i < in->n_sources; i++)
        add(&t, "%s %s\n", in->source[i].name,
            hex_print(span_of(in->source[i].value, 32), hex));
    add(&t, "vrf 01 %s\n", hex_print(span_of(in->vrf_beta, 32), hex));
    if (t.full)
        return 0;
    sha256(span_of(t.p, t.n), ret_seed);
    return t.n;
}

size_t seed_alpha(const char *origin, uint64_t epoch,
                  const uint8_t previous[SEED_BYTES],
                  char ret_alpha[SEED_ALPHA])
{
    struct text t = {ret_alpha, 0, SEED_ALPHA, false};
    char hex[HEX_TEXT(SEED_BYTES)];

    add(&t, "assay-vrf/v1\n%s\n%" PRIu64 "\n%s\n", origin, epoch,
        hex_print(span_of(previous, SEED_BYTES), hex));
    return t.full ? 0 : t.n;
}
