/*
 * draw.c - tickets, and the smallest of each stratum in a bounded heap.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/hmac.h>

/* The largest of the tickets kept is on top; room of them at most. */
struct heap {
    struct drawn *units;
    size_t n, room;
};

int draw_ticket(const uint8_t seed[SEED_BYTES], const uint8_t unit[MERKLE_HASH],
                uint8_t ret_ticket[DRAW_TICKET])
{
    static const char label[] = "assay-ticket/v1"; /* with its NUL */
    uint8_t text[sizeof label + MERKLE_HASH];

    memcpy(text, label, sizeof label);
    memcpy(text + sizeof label, unit, MERKLE_HASH);
    if (HMAC(EVP_sha256(), seed, SEED_BYTES, text, sizeof text, ret_ticket,
             NULL) == NULL)
        return -EIO;
    return 0;
}

static int order(const struct frame *f, const struct drawn *a,
                 const struct drawn *b)
{
    int d = memcmp(a->ticket, b->ticket, DRAW_TICKET);

    return d != 0 ? d
                  : memcmp(f->units[a->index].unit, f->units[b->index].unit,
                           MERKLE_HASH);
}

static void swap(struct drawn *a, struct drawn *b)
{
    struct drawn t = *a;

    *a = *b;
    *b = t;
}

static void rise(const struct frame *f, struct heap *h, size_t i)
{
    while (i > 0 && order(f, &h->units[(i - 1) / 2], &h->units[i]) < 0) {
        swap(&h->units[(i - 1) / 2], &h->units[i]);
        i = (i - 1) / 2;
    }
}

static void sink(const struct frame *f, struct heap *h)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < h->n) {
        if (child + 1 < h->n &&
            order(f, &h->units[child], &h->units[child + 1]) < 0)
            child++;
        if (order(f, &h->units[i], &h->units[child]) >= 0)
            return;
        swap(&h->units[i], &h->units[child]);
        i = child;
    }
}

static void offer(const struct frame *f, struct heap *h, const struct drawn *d)
{
    if (h->n < h->room) {
        h->units[h->n++] = *d;
        rise(f, h, h->n - 1);
    } else if (h->room > 0 && order(f, d, &h->units[0]) < 0) {
        h->units[0] = *d;
        sink(f, h);
    }
}

static int offer_all(const struct frame *f, const uint8_t seed[SEED_BYTES],
                     struct heap *heaps, size_t n_strata)
{
    for (size_t i = 0; i < f->n; i++) {
        struct drawn d = {.index = i};
        int err = draw_ticket(seed, f->units[i].unit, d.ticket);

        if (err != 0)
            return err;
        if (f->units[i].stratum >= n_strata)
            return -EINVAL;
        offer(f, &heaps[f->units[i].stratum], &d);
    }
    return 0;
}

static int by_index(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

/* The heaps lie one behind the other in units, each with its room; closes the
 * gaps that are left. */
static size_t join(struct drawn *units, const struct heap *heaps, size_t n)
{
    size_t total = 0;

    for (size_t h = 0; h < n; h++) {
        if (heaps[h].n > 0)
            memmove(units + total, heaps[h].units, heaps[h].n * sizeof *units);
        total += heaps[h].n;
    }
    return total;
}

int draw_frame(const struct frame *f, const uint8_t seed[SEED_BYTES],
               const uint64_t *wanted, size_t n_strata, struct draw *ret_draw)
{
    struct heap *heaps = calloc(n_strata + 1, sizeof *heaps);
    uint64_t *size = calloc(n_strata + 1, sizeof *size);
    struct drawn *units = malloc((f->n + 1) * sizeof *units), *next = units;
    int err = -ENOMEM;

    if (heaps == NULL || size == NULL || units == NULL)
        goto out;
    for (size_t i = 0; i < f->n; i++)
        if (f->units[i].stratum < n_strata)
            size[f->units[i].stratum]++;
    for (size_t h = 0; h < n_strata; h++) {
        heaps[h].units = next;
        heaps[h].room = (size_t)(wanted[h] < size[h] ? wanted[h] : size[h]);
        next += heaps[h].room;
    }
    err = offer_all(f, seed, heaps, n_strata);
    if (err != 0)
        goto out;
    ret_draw->n = join(units, heaps, n_strata);
    qsort(units, ret_draw->n, sizeof *units, by_index);
    ret_draw->units = units;
    units = NULL;
out:
    free(units);
    free(size);
    free(heaps);
    return err;
}

void draw_fini(struct draw *d)
{
    free(d->units);
    d->units = NULL;
    d->n = 0;
}
