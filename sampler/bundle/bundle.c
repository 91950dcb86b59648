/*
 * bundle.c - the files of a bundle in memory, and its manifest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/bundle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "seed/hex.h"
#include "store/sha256.h"

struct span bundle_bytes(const struct bundle_file *f)
{
    return span_of(f->bytes, f->n);
}

void bundle_fini(struct bundle *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->files[i].bytes);
    free(b->files);
    b->files = NULL;
    b->n = 0;
}

/* Where name stands or would stand. */
static size_t place(const struct bundle *b, const char *name)
{
    size_t low = 0, high = b->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (strcmp(b->files[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct bundle_file *bundle_find(const struct bundle *b, const char *name)
{
    size_t i = place(b, name);

    return i < b->n && strcmp(b->files[i].name, name) == 0 ? &b->files[i]
                                                           : NULL;
}

const struct bundle_file *bundle_find_epoch(const struct bundle *b,
                                            const char *name)
{
    char path[BUNDLE_NAME];

    (void)snprintf(path, sizeof path, "epoch-%" PRIu64 "/%s", b->epoch, name);
    return bundle_find(b, path);
}

int bundle_add(struct bundle *b, const char *name, struct span bytes)
{
    size_t i = place(b, name);
    struct bundle_file *files;
    uint8_t *copy;

    if (strlen(name) >= BUNDLE_NAME)
        return -ENAMETOOLONG;
    copy = malloc(bytes.n + 1);
    files = array_grow(b->files, &b->size, b->n, 1, sizeof *files);
    if (files != NULL)
        b->files = files;
    if (copy == NULL || files == NULL) {
        free(copy);
        return -ENOMEM;
    }
    if (bytes.n > 0)
        memcpy(copy, bytes.p, bytes.n);
    memmove(files + i + 1, files + i, (b->n - i) * sizeof *files);
    memset(&files[i], 0, sizeof files[i]);
    memcpy(files[i].name, name, strlen(name));
    files[i].bytes = copy;
    files[i].n = bytes.n;
    b->n++;
    return 0;
}

int bundle_add_manifest(struct bundle *b)
{
    enum { LINE = 64 + 2 + BUNDLE_NAME + 1 };
    char *text = malloc(b->n * LINE + 1);
    size_t n = 0;
    int err;

    if (text == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < b->n; i++) {
        uint8_t hash[SHA256_BYTES];
        char hex[HEX_TEXT(SHA256_BYTES)];

        sha256(bundle_bytes(&b->files[i]), hash);
        n += (size_t)sprintf(text + n, "%s  %s\n",
                             hex_print(span_of(hash, sizeof hash), hex),
                             b->files[i].name);
    }
    err = bundle_add(b, "manifest.sha256", span_of(text, n));
    free(text);
    return err;
}
