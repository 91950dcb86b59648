/*
 * toy.h - an engine so small that the batches it hides are known: the other
 * side of a stepper (search/stepper.h), for tests of the search.
 *
 *   rules, prompts, hidden batches --toy_serve--> answers with rows
 *                                                   |
 *         stepper over the claims alone <-----------+--- toy_search -->
 * verdicts
 *
 * The state of a position is a hash of the one before, its token and the mark
 * of its batch; a row is a hash of its state, from which the next token is
 * chosen. A position can be quiet: its row is one of the last state that was
 * not, so that a wrong batch is seen only later; or near: it shows its own
 * batch, but not those of quiet ones before. Nothing is approximate: a wrong
 * hypothesis that shows gives another row.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TOY_H
#define TOY_H

#include "search/hypothesis.h"
#include "search/search.h"

enum {
    TOY_CLAIMS = 8,
    TOY_TOKENS = 48, /* of a prompt and its answer */
    TOY_WIDTH = 3,
    TOY_IDS = 1 << 20,
    TOY_SHAPES = 3,
    TOY_BITS = 8, /* of evidence in a row */
    TOY_NOBODY = TOY_CLAIMS
};

/* Rows of a batch: alone, of one's own alone, with others'. */
enum { TOY_ALONE = 1, TOY_OWN = 2, TOY_COMPANY = 3 };

struct toy_rules {
    unsigned shapes;        /* of a step: the first so many of the above */
    bool chunked;           /* prompts may be cut, and have company */
    unsigned splits;        /* hidden ones of a lone row's keys, beside none */
    unsigned offsets;       /* of a prefix, beside 0 */
    unsigned quiet_in;      /* one position in so many is quiet; 0: none */
    uint64_t weights;       /* of the model that the stepper has */
    bool quiet[TOY_TOKENS]; /* these positions are, whatever their tokens */
    bool near[TOY_TOKENS];
    bool blind; /* no row shows anything of a batch */
    size_t own_prefix, prefix_unit;
    bool prefix_moves;
    bool no_guess;         /* of a prefix that nobody lends */
    const char *missing;   /* of chunkings, of */
    size_t missing_of;     /* that claim; TOY_NOBODY: of each */
    const char *first_row; /* of a prompt's end */
};

/* Keys and values of a position: what they are, and what a row shows. */
struct toy_state {
    uint64_t all, seen;
};

/* A request, what its engine did unseen, and what it answered. */
struct toy_request {
    uint32_t ids[TOY_TOKENS];
    size_t n_prompt, n_answer;
    size_t n_cached; /* what the wire says of it may be another */
    size_t source;   /* whose state the prefix is; or TOY_NOBODY */
    size_t offset;
    struct prefill_chunking chunking;
    uint32_t end_rows;            /* of the prompt's last row, if not 0 */
    struct kv_split prompt_split; /* of the prompt's end, and */
    struct kv_split inner_split;  /* of lone rows before it */
    struct hypothesis steps[TOY_TOKENS];
    uint64_t weights;
    struct toy_state state[TOY_TOKENS];
    float rows[TOY_TOKENS][TOY_WIDTH];
};

struct toy_found {
    float rows[TOY_TOKENS][TOY_WIDTH]; /* the last that was handed out */
    size_t n;
    unsigned calls;
    unsigned more; /* so many calls say that the answer goes on */
};

struct toy {
    struct toy_rules rules;
    struct toy_request requests[TOY_CLAIMS];
    struct search_claim claims[TOY_CLAIMS]; /* what is known of them */
    bool untold[TOY_CLAIMS]; /* nobody knows how its tokens were chosen */
    uint32_t told[TOY_CLAIMS][TOY_TOKENS]; /* ids as the stepper knows them */
    size_t n;
    struct search_verdict verdicts[TOY_CLAIMS];
    struct toy_found found[TOY_CLAIMS];
    int fail_after; /* the stepper fails when it has run so often; 0: never */
    /* The stepper's. */
    struct batch_shape shapes[TOY_SHAPES];
    size_t claim; /* begun */
    size_t n_prefix, offset;
    struct toy_state state[TOY_TOKENS];
    size_t length;
    float rows[TOY_TOKENS * TOY_WIDTH];
    uint64_t runs; /* chunks and steps */
    size_t states; /* saved and not forgotten */
};

/* With these rules, and no claims. */
void toy_init(struct toy *t, const struct toy_rules *rules);
/* Another request of n_prompt tokens made of the seed: nothing is cached, its
 * prompt runs alone, its n_answer steps each alone. Returns its number. What is
 * changed in it counts once it is served. */
size_t toy_add(struct toy *t, uint64_t seed, size_t n_prompt, size_t n_answer);
/* Its first n tokens are taken from that other request's prompt and answer. */
void toy_share(struct toy *t, size_t request, size_t source, size_t n);
/* It computed all of its prompt itself, all the same. */
void toy_compute(struct toy *t, size_t request);
/* Its prompt's last row ran in a batch that is not listed, and shows it. */
void toy_unlisted_end(struct toy *t, size_t request);
/* The chunking number i of those that the stepper lists. */
void toy_chunk(struct toy *t, size_t request, size_t i);
/* Steps from..to - 1 run in this shape. */
void toy_shape(struct toy *t, size_t request, size_t from, size_t to,
               unsigned shape);
/* Computes the answer, and tells the claim of it. Sources come first; a prefix
 * of nobody is one whose batch does not matter. */
void toy_serve(struct toy *t, size_t request);
/* A bit of a row that its claim tells. */
void toy_alter(struct toy *t, size_t request, size_t step);

/* Claims first.. are asked for, n of them; 0 or what the search returned. */
int toy_search(struct toy *t, size_t first, size_t n, uint64_t limit);
/* All of them are, with no limit of the test's own. */
void toy_search_all(struct toy *t);

#endif
