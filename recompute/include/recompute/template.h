/*
 * template.h - chat messages to the prompt text that the model was made for.
 *
 * Comes in: the model directory's template (chat_template.jinja, or
 * chat_template in tokenizer_config.json) and messages. Goes out: the text
 * that the template renders, with the opening of the assistant's turn. A
 * template is recognised by its exact text; one that is not in the table of
 * tokenizer/template.c cannot be rendered and its exchanges cannot be checked.
 *
 * A model without a template is given the contents of the messages, joined
 * with LF, encoded like a completion's prompt (with the model's <s>): this is
 * our own rule, for models that only continue text.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_TEMPLATE_H
#define RECOMPUTE_TEMPLATE_H

#include "store/span.h"

struct api_message;
struct template;
struct error;

/* The model's template, or the rule for none. -EINVAL with words: a file is
 * malformed; errno of reading; -ENOMEM. An unknown template is no error here.
 * *ret_t belongs to the program, not to the caller. */
int template_open(const char *dir, const struct template **ret_t,
                  struct error *ret_error);
/* The row for this exact text; text with p NULL: the model has none. */
const struct template *template_find(struct span text);
/* Whether the text is to be encoded with the tokens around it. */
bool template_special(const struct template *t);
const char *template_name(const struct template *t); /* for the log */

/* The prompt text; the caller frees *ret_text. -ENOTSUP: unknown template;
 * -ENOMEM. */
int template_render(const struct template *t,
                    const struct api_message *messages, size_t n,
                    char **ret_text, size_t *ret_n);

#endif
