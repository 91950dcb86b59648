/*
 * judged.h - the requests of a capture, each judged at the highest level that
 * can be had: by the plan if there is one, else from HTTP alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef JUDGED_H
#define JUDGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct llama_chat;
struct llama_model;
struct llama_vocab;
struct pool;
struct recipe;

struct judge {
    const struct llama_model *model;
    const struct llama_vocab *text;
    const struct llama_chat *chat;
    const struct recipe *recipe;
    struct pool *pool;
    bool http; /* from HTTP alone, even if there is a plan */
};

struct judged {
    const char *name;  /* of the exchange, borrowed from the capture */
    const char *level; /* plan, search, invariant, - */
    size_t compared, differing;
    uint64_t runs;
    bool undecided;
    char words[160];
};

/* Requests that the server refused are left out. Room for capture->n. 0 or a
 * negative errno. */
int judge_capture(const struct judge *q, struct capture *c,
                  struct judged *ret_j, size_t *ret_n);

#endif
