/*
 * cheat.h - dishonesty on request, so that a test knows which answers must be
 * found out: every N-th request or the K-th, each written to a log.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CHEAT_H
#define CHEAT_H

#include "prover.h"

#include <stdio.h>

struct cheats {
    enum cheat_kind kind;
    uint64_t every, request; /* 0: not */
    uint64_t seen;           /* requests so far */
    FILE *log;               /* "KIND ID" a line; NULL: none */
    FILE *hidden;            /* where hidden text goes; NULL: nowhere */
    struct kept kept;        /* the last honest answer's first choice */
    bool has_kept;
};

/* False: no such cheat. */
bool cheat_find(const char *name, enum cheat_kind *ret_kind);
/* Decides about the next request, sets c->cheat and writes the log. A cheat
 * that cannot be done now (nothing to replay) is not done. */
void cheat_decide(struct cheats *s, struct call *c);
/* Changes the parameters of an answer that is about to start. */
void cheat_parameters(const struct call *c, struct generate *p);
/* Changes the token that was just chosen, if it is the one. */
void cheat_token(struct answer *a);
/* Keeps an answer that has ended. */
void cheat_keep(struct cheats *s, const struct answer *a);
/* Writes what a hidden call came to. */
void cheat_hidden(struct cheats *s, const struct call *c);
void cheats_fini(struct cheats *s);

/* Opens dir's model with every matrix rounded to 8 bits a row (largest value
 * 127), by way of a copy under tmp. Returns as model_open. */
struct error;
int model_open_rounded(const char *dir, struct model **ret_m,
                       struct error *ret_error);

#endif
