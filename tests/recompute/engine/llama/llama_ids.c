/*
 * llama_ids.c - our tokenizer of a GGUF file for peer_llama_text.py.
 *
 * usage: llama_ids FILE. In: texts, each a big-endian u32 length and its
 * bytes. Out: for each one line of four columns, separated by tabs: the ids
 * with the tokens around a text and names parsed, the ids with neither, with
 * names parsed only, and the pieces of the first joined, in hex. Before them
 * one line with the ids that end an answer.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "llama_ids: %s: %s\n", what, why);
    exit(1);
}

static void put_ids(const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf(i == 0 ? "%u" : " %u", ids[i]);
    putchar('\t');
}

static void put_pieces(const struct llama_vocab *t, const uint32_t *ids,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct span s = llama_vocab_piece(t, ids[i]);

        for (size_t k = 0; k < s.n; k++)
            printf("%02x", s.p[k]);
    }
    putchar('\n');
}

static void one(const struct llama_vocab *t, struct span text)
{
    static const struct llama_vocab_options hows[] = {
        {true, true}, {false, false}, {false, true}};
    uint32_t *first = NULL;
    size_t n_first = 0;

    for (size_t i = 0; i < 3; i++) {
        uint32_t *ids;
        size_t n;
        int err = llama_vocab_encode(t, text, hows[i], &ids, &n);

        if (err != 0)
            fail("encode", strerror(-err));
        put_ids(ids, n);
        if (i != 0)
            free(ids);
        else
            first = ids, n_first = n;
    }
    put_pieces(t, first, n_first);
    free(first);
}

static bool read_text(uint8_t **ret_p, size_t *ret_n)
{
    uint8_t head[4];

    if (fread(head, 1, 4, stdin) != 4)
        return false;
    *ret_n = (size_t)head[0] << 24 | (size_t)head[1] << 16 |
             (size_t)head[2] << 8 | head[3];
    *ret_p = malloc(*ret_n + 1);
    if (*ret_p == NULL || fread(*ret_p, 1, *ret_n, stdin) != *ret_n)
        fail("read", "cut");
    return true;
}

int main(int argc, char **argv)
{
    struct llama_vocab *t;
    struct gguf *g;
    struct error why;
    uint8_t *p;
    size_t n;

    if (argc != 2)
        fail("usage", "llama_ids FILE");
    if (gguf_open(argv[1], &g, &why) != 0 || llama_vocab_open(g, &t, &why) != 0)
        fail(argv[1], why.text);
    for (uint32_t id = 0; id < llama_vocab_size(t); id++)
        if (llama_vocab_ends(t, id))
            printf("%u ", id);
    putchar('\n');
    while (read_text(&p, &n)) {
        one(t, span_of(p, n));
        free(p);
    }
    llama_vocab_close(t);
    gguf_close(g);
    return 0;
}
