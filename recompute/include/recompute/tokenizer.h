/*
 * tokenizer.h - text to token ids and back, as the model's tokenizer.json says.
 *
 * Comes in: a Hugging Face tokenizer.json with a BPE model, byte-level or with
 * byte fallback. Goes out: the ids that the package `tokenizers` gives for the
 * same file, the bytes of each id, and the text of a sequence. What the file
 * asks for and this room does not do is an error in words at load, never
 * ignored.
 *
 * An open tokenizer is not changed by its use: threads may share one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_TOKENIZER_H
#define RECOMPUTE_TOKENIZER_H

#include "store/span.h"

struct tokenizer;
struct error;

/* Reads DIR/tokenizer.json. 0, -EINVAL when the file is refused (ret_error says
 * for what), another errno of reading, -ENOMEM. The caller closes *ret_t. */
int tokenizer_open(const char *dir, struct tokenizer **ret_t,
                   struct error *ret_error);
/* The same from the bytes of a tokenizer.json; json is not kept. */
int tokenizer_parse(struct span json, struct tokenizer **ret_t,
                    struct error *ret_error);
void tokenizer_close(struct tokenizer *t);

/*
 * text is UTF-8 (else -EILSEQ). Names of added tokens in the text become those
 * tokens. special: the post-processor adds what belongs around a text, such as
 * <s>. The caller frees *ret_ids. -ENOMEM; -EIO: a pattern gave up.
 */
int tokenizer_encode(const struct tokenizer *t, struct span text, bool special,
                     uint32_t **ret_ids, size_t *ret_n);

/* The token's bytes, which need not be UTF-8; borrowed from t, empty if there
 * is no such id. A special token's bytes are its name. */
struct span tokenizer_bytes(const struct tokenizer *t, uint32_t id);
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id);

/* Tokens of somebody else. */
struct token_run {
    const uint32_t *ids;
    size_t n;
};

/* The text of a whole sequence, UTF-8, as the file's decoder gives it (so
 * without the space that some models put before the first word). The caller
 * frees *ret_text, which has a NUL after its n bytes. -ENOMEM. */
int tokenizer_decode(const struct tokenizer *t, struct token_run run,
                     bool skip_special, char **ret_text, size_t *ret_n);

#endif
