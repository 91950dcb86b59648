/*
 * reader.h - JSON into the forms of store/api.h: what the APIs' rows are made
 * of.
 *
 *     request  a table of keys, one reader a type of key (prompt: prompts and
 *              messages; bias: logit_bias); what no row names goes to others
 *     answer   choices by index, whole or event by event (tokens: every form
 *              of token list; answer_end: counts, order, echoed prompts)
 *     json     jansson as strict as it must be
 *     memory   the arena that an exchange's spans live in
 *
 *     text --json--> tree --request, answer--> api_request, api_answer
 *
 * Foreign bytes: nothing here fails, it complains (request_bad, answer_bad).
 * Arrows: reader sees base; apis and dialect.c see reader.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_READER_H
#define STORE_DIALECT_READER_H

#endif
