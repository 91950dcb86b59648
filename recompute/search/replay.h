/*
 * replay.h - one claim's sequence run under hypotheses, and held against the
 * claim: the prompt under a chunking, then steps of the answer under a shape
 * and a split.
 *
 * What was accepted stays: the rows, and of each position a trace, which says
 * what its keys and values come from. Equal traces, equal states.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_REPLAY_H
#define SEARCH_REPLAY_H

#include "search/hypothesis.h"

struct replay {
    const struct stepper *stepper;
    size_t self;               /* of the stepper's claims */
    struct search_claim claim; /* its n_cached is known, or assumed */
    uint64_t runs, limit;      /* decoded tokens and prompt chunks */
    /* Rows of the accepted steps, and of the first that was not, as it was
     * tried first. */
    float *path;
    bool *told;            /* the wire shows of that row what could differ */
    uint64_t *trace;       /* of each position */
    size_t furthest;       /* steps that some hypothesis reached */
    size_t missed;         /* the step that path has as tried first, plus 1 */
    struct kv_split split; /* of the last row that was alone */
    size_t offset;         /* of the prefix */
    uint32_t first_cell;   /* of the chunking */
    bool guessed; /* a row within a prompt was alone, and of its hidden splits
                   * only the likeliest was tried */
};

/* Room for the longest of the stepper's claims, which is borrowed. -ENOMEM. */
int replay_init(struct replay *r, const struct stepper *s);
void replay_fini(struct replay *r);
/* An answer of n tokens has room. */
bool replay_fits(const struct stepper *s, size_t n);

/* Another claim, or the same with another n_cached; nothing was run. */
void replay_claim(struct replay *r, size_t self, const struct search_claim *c);
/* The prefix is what comes before. trace: of its tokens, or NULL: as it
 * stands. */
int replay_begin(struct replay *r, const struct cached_prefix *p,
                 const uint64_t *trace);

/* The first n tokens as another's prompt that was chunked so; n is at most what
 * that has. Before they are run: what the trace of the last one will be. */
uint64_t replay_prefix_trace(struct replay *r, const struct prefill_chunking *c,
                             size_t n);
int replay_prefix(struct replay *r, const struct prefill_chunking *c, size_t n);

/* The prompt behind its prefix, its last row under split number k: 0 runs all
 * of it, others only the chunk that ends it. *ret_equal: the first token's row
 * is. 1: there is no such split. */
int replay_prompt(struct replay *r, const struct prefill_chunking *c, size_t k,
                  bool *ret_equal);
/* n steps from `step` on at once; *ret_n of them are equal. -EDQUOT: the limit
 * is reached. */
struct replay_steps {
    size_t step;
    uint32_t n;
    const struct hypothesis *h;
};
int replay_decode(struct replay *r, const struct replay_steps *d,
                  uint32_t *ret_n);
/* The row after the answer's last token, into path, under one of the shapes. */
int replay_after(struct replay *r, unsigned shape);

#endif
