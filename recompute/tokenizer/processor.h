/*
 * processor.h - a tokenizer.json's post_processor: the tokens put around the
 * ids of one text. Types: Sequence, TemplateProcessing (its "single" form),
 * ByteLevel (which changes no ids), BertProcessing, RobertaProcessing.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include "tokenizer/pattern/pieces.h"

#include <jansson.h>

struct error;

struct processor {
    struct ids before, after;
};

/* v: the object "post_processor", or null. The caller ends *ret_p with
 * processor_fini, even after a failure. */
int processor_init(const json_t *v, struct processor *ret_p, struct error *w);
void processor_fini(struct processor *p);

#endif
