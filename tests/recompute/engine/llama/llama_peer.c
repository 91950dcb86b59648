/*
 * llama_peer.c - the same columns as llama_ids.c from llama.cpp's own library,
 * for peer_llama_text.py, which builds it against the source tree.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>

static void quiet(enum ggml_log_level level, const char *text, void *arg)
{
    (void)arg;
    if (level == GGML_LOG_LEVEL_ERROR)
        fputs(text, stderr);
}

static void fail(const char *what)
{
    fprintf(stderr, "llama_peer: %s\n", what);
    exit(1);
}

/* What llama_tokenize is asked for beside the pieces of the text. */
struct wish {
    bool special; /* the tokens that stand around a text */
    bool parse;   /* names of special tokens in the text */
};

static int32_t encode(const struct llama_vocab *v, const char *text, size_t n,
                      struct wish wish, llama_token **ret_ids)
{
    int32_t room = (int32_t)n + 16, got;
    llama_token *ids = malloc((size_t)room * sizeof *ids);

    got = ids == NULL ? -1
                      : llama_tokenize(v, text, (int32_t)n, ids, room,
                                       wish.special, wish.parse);
    if (got < 0)
        fail("llama_tokenize");
    for (int32_t i = 0; i < got; i++)
        printf(i == 0 ? "%d" : " %d", ids[i]);
    putchar('\t');
    *ret_ids = ids;
    return got;
}

static void one(const struct llama_vocab *v, const char *text, size_t n)
{
    llama_token *first, *ids;
    int32_t got = encode(v, text, n, (struct wish){true, true}, &first);
    char piece[1024];

    (void)encode(v, text, n, (struct wish){false, false}, &ids);
    free(ids);
    (void)encode(v, text, n, (struct wish){false, true}, &ids);
    free(ids);
    for (int32_t i = 0; i < got; i++) {
        int32_t len =
            llama_token_to_piece(v, first[i], piece, sizeof piece, 0, false);

        for (int32_t k = 0; k < len; k++)
            printf("%02x", (unsigned char)piece[k]);
    }
    putchar('\n');
    free(first);
}

int main(int argc, char **argv)
{
    struct llama_model_params params;
    struct llama_model *model;
    const struct llama_vocab *v;
    unsigned char head[4];

    if (argc != 2)
        fail("usage: llama_peer FILE");
    llama_log_set(quiet, NULL);
    llama_backend_init();
    params = llama_model_default_params();
    params.vocab_only = true;
    model = llama_model_load_from_file(argv[1], params);
    if (model == NULL)
        fail("the model does not load");
    v = llama_model_get_vocab(model);
    for (int32_t id = 0; id < llama_vocab_n_tokens(v); id++)
        if (llama_vocab_is_eog(v, id))
            printf("%d ", id);
    putchar('\n');
    while (fread(head, 1, 4, stdin) == 4) {
        size_t n = (size_t)head[0] << 24 | (size_t)head[1] << 16 |
                   (size_t)head[2] << 8 | head[3];
        char *text = malloc(n + 1);

        if (text == NULL || fread(text, 1, n, stdin) != n)
            fail("cut input");
        one(v, text, n);
        free(text);
    }
    llama_model_free(model);
    return 0;
}
