/*
 * stepper.h - an engine as the search sees it: it steps through one sequence
 * at a time, alone, under whatever its batches can have been.
 *
 *      a cached prefix     prompt, chunk by chunk     answer, step by step
 *     |---------------|----------|----------|----|---|---|---|---| ...
 *     state, offset     shape      shape    shape,  shape, split
 *                                           split
 *                                              row 0   1   2   3   rows out
 *                                               |      |   |   |
 *                                              hold   hold ...
 *
 * What a batch decides for a row is its place in it (batch_shape) and how
 * attention cut its keys (kv_split); what a scheduler decides is how a prompt
 * was cut into batches (prefill_chunking) and what of it was cached. A stepper
 * lists what there can have been, the likeliest first; it runs what it is
 * given; and it holds rows against the claim, since only its engine knows what
 * the wire shows of a row. The search (search.h) decides what is tried.
 *
 * Whose bits the batch cannot change has one shape, one split, one chunking.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_STEPPER_H
#define SEARCH_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request and its answer, as far as batches go. All borrowed. */
struct search_claim {
    const uint32_t *ids; /* of the prompt, then of the answer; NULL: not even
                          * the prompt's are known */
    size_t n_prompt, n_answer;
    size_t n_cached;   /* of the prompt, not computed; SIZE_MAX: not known */
    bool has_logprobs; /* they tell one batch from another */
    bool open_ids;     /* the answer's are written as its rows are held */
    bool goes_on;      /* behind ids it has tokens that are not known */
    const char *why;   /* it cannot be searched for; NULL: it can */
};

/* A batch with rows of ours in it, as far as it chooses kernels for them. Only
 * the stepper reads it; what its engine does not go by is 0. */
struct batch_shape {
    uint32_t rows, first;          /* ours are number `first` of so many */
    uint32_t wanted, wanted_first; /* likewise of those with logits */
    uint32_t attended;             /* rows that attention takes together */
    bool splits;                   /* attention may cut a lone row's keys */
};

/* Where a row's keys were cut: at `border`, and every `part` from there on.
 * border 0: not at all. */
struct kv_split {
    uint32_t border, part;
};

enum { PREFILL_CHUNKS = 32 };

/* Tokens of ours that one batch took. */
struct prefill_chunk {
    uint32_t n;
    struct batch_shape shape;
};

struct prefill_chunking {
    struct prefill_chunk chunks[PREFILL_CHUNKS];
    size_t n;
    uint32_t first_cell; /* of the sequence, where attention goes by cells */
};

struct chunking_list {
    struct prefill_chunking *list; /* the likeliest first */
    size_t n;
    const char *missing; /* why there may be others; NULL: there are none */
};

/* Keys and values of a sequence's first tokens, as its engine keeps them. */
struct kv_state;

/* The first n tokens of a prompt are not computed but taken from a state. A
 * cache may lay what follows elsewhere than behind it: `offset` is the
 * stepper's own word for where, 0 for right behind. */
struct cached_prefix {
    const struct kv_state *state; /* NULL: n is 0 */
    size_t n;
    size_t offset;
};

/* Steps of an answer, each in a batch of its own of one shape, one after the
 * other. Step i feeds token i - 1 of the answer; the prompt's end is step 0. */
struct decode_steps {
    size_t first;
    uint32_t n;
    struct batch_shape shape;
    struct kv_split split;
};

enum row_match {
    ROW_DIFFERS,
    ROW_EQUAL,
    ROW_UNTOLD /* the wire shows nothing that could differ */
};

/* Where it says int: 0 or a negative errno, which ends the search. */
struct stepper_ops {
    /* Chunkings of a claim's prompt from token `from` on: its n_cached, or one
     * that it can be; or 0 for how all of it was computed whose first one was
     * cached. *ret is ended with free(list). */
    int (*chunkings)(void *self, size_t claim, size_t from,
                     struct chunking_list *ret);
    /* How the first n tokens of a prompt were computed that nobody lends: a
     * guess, but for own_prefix tokens; false: none is made. */
    bool (*assume)(void *self, size_t n, struct prefill_chunking *ret_c);
    /* Number k, from 0 on, of the splits that there can have been where a row
     * at this position was alone; false: there are no more. There is one. */
    bool (*split)(void *self, size_t position, size_t k, struct kv_split *ret);
    /* What made the keys and values of our row number `row`: equal marks, equal
     * bits, where those before them are equal. */
    uint64_t (*mark)(void *self, const struct batch_shape *shape, uint32_t row,
                     const struct kv_split *split);
    /* Number i, from 1 on, of the offsets that a prefix can have had, when
     * those before it gave equal rows up to step `furthest` at most. */
    bool (*offset)(void *self, unsigned i, size_t furthest, size_t *ret_offset);

    /* A new sequence: of this claim, behind this prefix. */
    int (*begin)(void *self, size_t claim, const struct cached_prefix *p);
    /* One chunk of the prompt, number i. The sequence ends where the chunk
     * begins, whatever came after. split: of its last row. ret_row NULL: no
     * logits are wanted. */
    int (*prefill)(void *self, const struct prefill_chunking *c, size_t i,
                   const struct kv_split *split, const float **ret_row);
    /* Likewise; rows one after the other. Rows stay until the next call. */
    int (*decode)(void *self, const struct decode_steps *d,
                  const float **ret_rows);
    /* Row of a step of the claim begun, against it. path: the rows of all steps
     * before, as they were accepted. */
    int (*hold)(void *self, size_t step, const float *path, const float *row,
                enum row_match *ret_match);
    /* Bits of evidence that the step's row is, if equal: base/evidence.h. */
    double (*evidence)(void *self, size_t claim, size_t step);

    /* The sequence as it stands, to begin others with. */
    int (*save)(void *self, struct kv_state **ret_state);
    void (*forget)(void *self, struct kv_state *state); /* or NULL */
};

struct stepper {
    const struct stepper_ops *ops;
    void *self;
    const struct search_claim *claims; /* of one server; n */
    size_t n;
    size_t width; /* floats of a row */
    /* Of a step's batch, the likeliest first. */
    const struct batch_shape *shapes;
    size_t n_shapes;
    bool splits_hidden;  /* a split follows from more than the position, */
    uint32_t same_split; /* and stays for so many positions from a multiple */
    size_t own_prefix;   /* as many tokens are the same whoever computed them */
    size_t prefix_unit;  /* a cached prefix is a multiple of that; or 0 */
    bool prefix_moves;   /* a prefix may come from other positions */
    const char *first_row; /* why a batch that is not listed may end a prompt,
                            * as its row shows; NULL: it cannot */
    uint64_t free_runs;    /* work that chance may take for any claim */
};

#endif
