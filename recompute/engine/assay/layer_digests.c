/*
 * layer_digests.c - digests of the layers' outputs at drawn positions:
 * layer_digests.h. SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/layer_digests.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "store/sha256.h"

struct drawn_position {
    size_t position;
    EVP_MD_CTX *md;
};

struct layer_digests {
    uint8_t nonce[16];
    uint32_t choice;
    size_t hidden;
    struct drawn_position *v; /* in order of position */
    size_t n, room;
    uint8_t *bytes; /* of one row */
    int err;
};

static void put_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * (3 - i));
}

static bool is_drawn(const struct layer_digests *d, size_t position)
{
    uint8_t place[8], hash[SHA256_BYTES];
    const struct span parts[] = {span_of("assay-drawn/1", 14),
                                 span_of(d->nonce, 16), span_of(place, 8)};

    put_be32(place, d->choice);
    put_be32(place + 4, (uint32_t)position);
    sha256_parts(parts, 3, hash);
    return hash[0] < 0x10;
}

struct layer_digests *layer_digests_open(const uint8_t nonce[16],
                                         uint32_t choice, size_t hidden)
{
    struct layer_digests *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    memcpy(d->nonce, nonce, sizeof d->nonce);
    d->choice = choice;
    d->hidden = hidden;
    d->bytes = malloc(4 * hidden + 4);
    if (d->bytes == NULL) {
        layer_digests_close(d);
        return NULL;
    }
    return d;
}

void layer_digests_close(struct layer_digests *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->n; i++)
        EVP_MD_CTX_free(d->v[i].md);
    free(d->v);
    free(d->bytes);
    free(d);
}

/* Positions come in order within a layer, so a new one is the largest. */
static struct drawn_position *add(struct layer_digests *d, size_t position)
{
    size_t room = d->room == 0 ? 16 : 2 * d->room;
    struct drawn_position *v;

    if (d->n == d->room) {
        v = realloc(d->v, room * sizeof *v);
        if (v == NULL)
            return NULL;
        d->v = v;
        d->room = room;
    }
    v = &d->v[d->n];
    v->position = position;
    v->md = EVP_MD_CTX_new();
    if (v->md == NULL || EVP_DigestInit_ex(v->md, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(v->md);
        return NULL;
    }
    d->n++;
    return v;
}

static struct drawn_position *find(struct layer_digests *d, size_t position)
{
    size_t low = 0, high = d->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (d->v[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < d->n && d->v[low].position == position)
        return &d->v[low];
    return low == d->n ? add(d, position) : NULL;
}

void layer_digests_seen(void *arg, uint32_t layer, size_t position,
                        const float *row)
{
    struct layer_digests *d = arg;
    struct drawn_position *p;
    uint32_t bits;

    if (d->err != 0 || !is_drawn(d, position))
        return;
    p = find(d, position);
    if (p == NULL) {
        d->err = -ENOMEM;
        return;
    }
    put_be32(d->bytes, layer);
    for (size_t i = 0; i < d->hidden; i++) {
        memcpy(&bits, &row[i], sizeof bits);
        put_be32(d->bytes + 4 + 4 * i, bits);
    }
    if (EVP_DigestUpdate(p->md, d->bytes, 4 + 4 * d->hidden) != 1)
        d->err = -EIO;
}

int layer_digests_count(struct layer_digests *d, size_t *ret_n)
{
    *ret_n = d->n;
    return d->err;
}

int layer_digests_get(struct layer_digests *d, size_t i, uint8_t ret_digest[32])
{
    return EVP_DigestFinal_ex(d->v[i].md, ret_digest, NULL) == 1 ? 0 : -EIO;
}
