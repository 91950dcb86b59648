/*
 * fuzz_tokenizer.c - a tokenizer.json and a text, split at the first zero
 * byte: what loads must encode any text to ids within its size, and decode
 * them to UTF-8; ill-formed text must be refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/tokenizer.h"
#include "store/utf8.h"

enum { JSON_MAX = 1 << 16 };

static void use(const struct tokenizer *t, struct span text)
{
    uint32_t *ids;
    char *back;
    size_t n, len;
    int err = tokenizer_encode(t, text, true, &ids, &n);

    if (err == -EILSEQ && !utf8_whole(text))
        return;
    if (err == -EIO)
        return; /* a pattern may give up */
    if (err != 0 || !utf8_whole(text))
        abort();
    for (size_t i = 0; i < n; i++)
        if (tokenizer_bytes(t, ids[i]).n > JSON_MAX)
            abort();
    err = tokenizer_decode(t, (struct token_run){ids, n}, false, &back, &len);
    if (err != 0 && err != -EIO)
        abort();
    if (err == 0 && (!utf8_whole(span_of(back, len)) || back[len] != '\0'))
        abort();
    if (err == 0)
        free(back);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size == 0 ? NULL : memchr(data, 0, size);
    size_t n = zero == NULL ? size : (size_t)(zero - data);
    struct error error = {""};
    struct tokenizer *t;
    int err;

    if (n > JSON_MAX)
        return 0;
    err = tokenizer_parse(span_of(data, n), &t, &error);
    if (err == -EINVAL && error.text[0] == '\0')
        abort();
    if (err != 0)
        return 0;
    if (zero == NULL)
        use(t, span_str("Hello \xc3\xa9 <s>\n 12"));
    else
        use(t, span_of(zero + 1, size - n - 1));
    tokenizer_close(t);
    return 0;
}
