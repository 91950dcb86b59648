/*
 * coding.c - zlib over a fixed space. Each body has two halves of address
 * space, so that a chain of codings goes to and fro between them; pages are
 * only used as far as bodies reach, and one zlib state serves all.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http1/coding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

enum {
    SLOTS = 2,
    WINDOW_GZIP = 15 + 16, /* zlib's numbers: inflateInit2 in zlib.h */
    WINDOW_ZLIB = 15,
    WINDOW_RAW = -15
};

struct decoder {
    uint8_t *space; /* SLOTS times two halves */
    size_t limit;
    z_stream z;
    bool z_ready;
};

int decoder_open(size_t limit, struct decoder **ret_d)
{
    struct decoder *d = calloc(1, sizeof *d);

    if (d == NULL)
        return -ENOMEM;
    d->limit = limit;
    d->space = mmap(NULL, limit * 2 * SLOTS, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (d->space == MAP_FAILED)
        d->space = NULL;
    d->z_ready = inflateInit2(&d->z, WINDOW_GZIP) == Z_OK;
    if (d->space == NULL || !d->z_ready) {
        decoder_close(d);
        return -ENOMEM;
    }
    *ret_d = d;
    return 0;
}

void decoder_close(struct decoder *d)
{
    if (d == NULL)
        return;
    if (d->z_ready)
        (void)inflateEnd(&d->z); /* only fails on a state we do not have */
    if (d->space != NULL)
        (void)munmap(d->space, d->limit * 2 * SLOTS); /* cannot fail */
    free(d);
}

/* zlib counts in 32 bits; a body may be longer. */
static uInt clip(size_t n)
{
    return n > (1u << 30) ? 1u << 30 : (uInt)n;
}

struct buffer_out {
    uint8_t *p;
    size_t n;
    size_t size;
};

/* One stream of zlib; *in is left at what follows it. */
static enum decoded inflate_stream(struct decoder *d, int window,
                                   struct span *in, struct buffer_out *out)
{
    int rc = inflateReset2(&d->z, window);

    while (rc == Z_OK) {
        uInt give = clip(in->n), room = clip(out->size - out->n);

        if (room == 0)
            return DECODED_TOO_LARGE;
        d->z.next_in = (Bytef *)in->p; /* zlib's type lacks the const */
        d->z.avail_in = give;
        d->z.next_out = out->p + out->n;
        d->z.avail_out = room;
        rc = inflate(&d->z, Z_NO_FLUSH);
        *in = span_of(in->p + (give - d->z.avail_in),
                      in->n - (give - d->z.avail_in));
        out->n += room - d->z.avail_out;
        if (rc == Z_BUF_ERROR ||
            (rc == Z_OK && in->n == 0 && d->z.avail_out > 0))
            return DECODED_CUT;
    }
    return rc == Z_STREAM_END ? DECODED_WHOLE : DECODED_BAD;
}

/* gzip: one or more members one after the other (RFC 1952 section 2.2). What
 * follows the last and is no member is padding. */
static enum decoded undo_gzip(struct decoder *d, struct span in,
                              struct buffer_out *out)
{
    enum decoded r;

    do {
        r = inflate_stream(d, WINDOW_GZIP, &in, out);
    } while (r == DECODED_WHOLE && in.n >= 2 && in.p[0] == 0x1f &&
             in.p[1] == 0x8b);
    return r;
}

/* deflate: zlib's format (RFC 1950), or bare (RFC 1951). */
static enum decoded undo_deflate(struct decoder *d, struct span in,
                                 struct buffer_out *out)
{
    struct span whole = in;
    enum decoded r = inflate_stream(d, WINDOW_ZLIB, &in, out);

    if (r != DECODED_BAD)
        return r;
    out->n = 0;
    return inflate_stream(d, WINDOW_RAW, &whole, out);
}

enum decoded decoder_undo(struct decoder *d, int slot, struct span coded,
                          const struct codings *c, struct span *ret_body)
{
    uint8_t *space = d->space + (size_t)slot * 2 * d->limit;
    struct span in = coded;
    enum decoded r = DECODED_WHOLE;

    for (int i = c->n; i-- > 0 && coded.n > 0;) {
        struct buffer_out out = {space + (i % 2 == 0 ? 0 : d->limit), 0,
                                 d->limit};
        enum decoded step = c->of[i] == CODING_GZIP ? undo_gzip(d, in, &out)
                            : c->of[i] == CODING_DEFLATE
                                ? undo_deflate(d, in, &out)
                                : DECODED_UNKNOWN;

        if (step > DECODED_CUT)
            return step;
        if (step == DECODED_CUT)
            r = DECODED_CUT;
        in = span_of(out.p, out.n);
    }
    *ret_body = in;
    return r;
}
