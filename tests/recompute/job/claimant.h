/*
 * claimant.h - an honest server in a test: a job, what our worker computes for
 * it, and the answer that says so, as JSON to be altered.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLAIMANT_H
#define CLAIMANT_H

#include <jansson.h>

#include "compare/compare.h"
#include "job/deployment.h"
#include "job/run.h"

struct claimant {
    struct deployment model;
    const char *api;
    char *request; /* JSON */
    char *manifest_leaf;
    struct job job;
    struct run run; /* number 1 */
    json_t *answer; /* the honest answer */
};

enum claimant_form { TEXT_ALONE, WITH_LOGPROBS, WITH_IDS };

/* Opens the model in the directory MODEL. */
void claimant_open(struct claimant *c);
void claimant_close(struct claimant *c);
/* A blind run of the request, and the honest answer in this form. Ends the
 * one before. */
void claimant_ask(struct claimant *c, const char *api, const char *request,
                  enum claimant_form form);
/* The same request as a forced job on these claimed ids (payload form). */
void claimant_force(struct claimant *c, struct span claimed);
/* The n-th choice of the answer, and its logprobs lists. */
json_t *claimant_choice(struct claimant *c, size_t n);
json_t *claimant_logprobs(struct claimant *c, size_t n);
/* The claim with the answer as it now is. body: freed by the caller. */
struct claim claimant_claim(const struct claimant *c, char **ret_body);

#endif
