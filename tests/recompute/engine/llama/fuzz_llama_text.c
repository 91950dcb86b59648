/*
 * fuzz_llama_text.c - any bytes as a GGUF file with a tokenizer: what is
 * accepted encodes any text to ids that it has, with names parsed or not.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"

static volatile uint64_t sink; /* the bytes are read, nothing else */

static void encode(const struct llama_vocab *t, struct span text, bool both)
{
    struct llama_vocab_options how = {both, both};
    uint32_t *ids;
    size_t n;

    if (llama_vocab_encode(t, text, how, &ids, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct span piece = llama_vocab_piece(t, ids[i]);

        if (ids[i] >= llama_vocab_size(t))
            abort();
        for (size_t k = 0; k < piece.n; k++)
            sink += piece.p[k];
    }
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "hello  w 123 <s>abc\xc3\xa9 <|im_start|>x\n";
    struct llama_vocab *t;
    struct gguf *g;
    struct error error;

    if (gguf_parse(span_of(data, size), &g, &error) != 0)
        return 0;
    sink += llama_chat_known(llama_chat_find(g));
    if (llama_vocab_open(g, &t, &error) == 0) {
        encode(t, span_str(text), true);
        encode(t, span_str(text), false);
        encode(t, llama_vocab_name(t, size % llama_vocab_size(t)), true);
        llama_vocab_close(t);
    } else if (memchr(error.text, '\0', sizeof error.text) == NULL) {
        abort();
    }
    gguf_close(g);
    return 0;
}
