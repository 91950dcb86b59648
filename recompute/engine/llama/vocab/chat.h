/*
 * chat.h - chat messages to the prompt text, as llama-server renders them with
 * the template of a GGUF file.
 *
 * A file without tokenizer.chat_template gets ChatML, as in the server. A
 * template is recognised by its exact text; one that is not in the table of
 * recompute/template.c cannot be rendered and its exchanges cannot be checked.
 * White space at the end of a rendered template stays; names of tokens in it
 * become tokens (llama_text_how.parse), and <s> is put before it where the
 * model wants one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_CHAT_H
#define LLAMA_CHAT_H

#include "store/span.h"

struct api_message;
struct gguf;
struct llama_chat;

/* The row for this file's template. Belongs to the program. Never NULL. */
const struct llama_chat *llama_chat_find(const struct gguf *g);
/* The row for this text; p NULL: the file has none. */
const struct llama_chat *llama_chat_of(struct span text);
bool llama_chat_known(const struct llama_chat *c);
const char *llama_chat_name(const struct llama_chat *c); /* for the log */

/* The prompt text; the caller frees *ret_text. -ENOTSUP: unknown template, or
 * messages that the server would refuse; -ENOMEM. */
int llama_chat_render(const struct llama_chat *c,
                      const struct api_message *messages, size_t n,
                      char **ret_text, size_t *ret_n);

#endif
