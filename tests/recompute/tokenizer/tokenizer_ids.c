/*
 * tokenizer_ids.c - our tokenizer for peer_tokenizer.py.
 *
 * usage: tokenizer_ids DIR. In: texts, each a big-endian u32 length and its
 * bytes. Out: for each one line of five columns, separated by tabs: the ids
 * with the tokens around a text, the ids without, then the first ones decoded
 * with and without special tokens and as the tokens' bytes joined, in hex.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/tokenizer.h"

__attribute__((noreturn)) static void fail(const char *what, int err)
{
    fprintf(stderr, "tokenizer_ids: %s: %s\n", what, strerror(-err));
    exit(1);
}

static void put_ids(const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf(i == 0 ? "%u" : " %u", ids[i]);
    putchar('\t');
}

static void put_hex(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++)
        printf("%02x", p[i]);
}

static void put_text(const struct tokenizer *t, const uint32_t *ids, size_t n,
                     bool skip)
{
    char *text;
    size_t len;
    int err =
        tokenizer_decode(t, (struct token_run){ids, n}, skip, &text, &len);

    if (err != 0)
        fail("decode", err);
    put_hex(text, len);
    putchar('\t');
    free(text);
}

static void one(const struct tokenizer *t, struct span text)
{
    uint32_t *with, *without;
    size_t n_with, n_without;
    int err = tokenizer_encode(t, text, true, &with, &n_with);

    if (err == 0)
        err = tokenizer_encode(t, text, false, &without, &n_without);
    if (err != 0)
        fail("encode", err);
    put_ids(with, n_with);
    put_ids(without, n_without);
    put_text(t, with, n_with, false);
    put_text(t, with, n_with, true);
    for (size_t i = 0; i < n_with; i++) {
        struct span bytes = tokenizer_bytes(t, with[i]);

        put_hex(bytes.p, bytes.n);
    }
    putchar('\n');
    free(with);
    free(without);
}

int main(int argc, char **argv)
{
    struct tokenizer *t;
    struct error error = {""};
    uint8_t head[4], *text;
    int err;

    if (argc != 2)
        return 2;
    err = tokenizer_open(argv[1], &t, &error);
    if (err != 0) {
        fprintf(stderr, "tokenizer_ids: %s: %s\n", strerror(-err), error.text);
        return 3;
    }
    while (fread(head, 1, 4, stdin) == 4) {
        size_t n = (size_t)head[0] << 24 | (size_t)head[1] << 16 |
                   (size_t)head[2] << 8 | head[3];

        text = malloc(n + 1);
        if (text == NULL || fread(text, 1, n, stdin) != n)
            return 1;
        one(t, span_of(text, n));
        free(text);
    }
    tokenizer_close(t);
    return 0;
}
