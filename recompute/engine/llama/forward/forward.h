/*
 * forward.h - llama.cpp's forward pass over a GGUF file, the selection of
 * kernels explicit.
 *
 * Comes in: the tokens of one ubatch (or the part of one that a verifier cares
 * for), each with its position, sequence and cell, and the selection of
 * kernels: what the engine's true ubatch looked like. Goes out: float32 logits
 * of the wanted tokens, bit for bit what that build of the engine computes. How
 * the arithmetic goes is numerics/ggml's; what is here is which of it runs.
 *
 * The bits of a row depend on the model, the recipe, the selection and the
 * cells of its sequence; never on our threads or on this machine. So one
 * sequence of a batch can be run alone, under the selection of the whole
 * ubatch. SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_FORWARD_H
#define LLAMA_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/llama/forward/constants.h"
#include "numerics/ggml/ggml.h"

struct gguf;
struct error;
struct pool;

/* What a recipe says of a deployment, as far as logits depend on it, and the
 * limits by which the engine cuts its batches. */
struct llama_recipe {
    struct ggml_build build; /* arithmetic of the binary, numerics/ggml */
    bool flash;              /* flash attention; "auto" is on */
    bool kv_f16;             /* cache of halves; else of floats */
    bool unified;            /* all sequences in one stream of cells */
    uint32_t sequences;      /* slots (-np; 4 without flags) */
    uint32_t cells;          /* of one stream (n_ctx_seq, or n_ctx unified) */
    uint32_t n_batch;        /* tokens of one decode call */
    uint32_t n_ubatch;       /* tokens of one ubatch */
    uint32_t threads;        /* of the engine, for one-token ubatches (-t) */
};

enum { LLAMA_LAYERS = 1024 }; /* more are refused */

/* ---- model: shared, read-only, weights where the file is mapped ---- */

struct llama_model;

struct llama_shape {
    uint32_t vocab, hidden, ffn, layers, heads, kv_heads, head_dim;
    uint32_t context; /* positions the model was made for */
    float rms_eps;
};

/* g is borrowed until llama_model_close. -EINVAL: an architecture, a type or a
 * shape that is not computed here; ret_error says which. -ENOMEM. */
int llama_model_open(const struct gguf *g, struct llama_model **ret_m,
                     struct error *ret_error);
void llama_model_close(struct llama_model *m);
const struct llama_shape *llama_model_shape(const struct llama_model *m);
/* No product of m depends on the rows of its ubatch under this build. (With
 * flash attention the attention still may, kv_split.h: see choice.) */
bool llama_model_invariant(const struct llama_model *m,
                           const struct ggml_build *b);

/* ---- cache: keys and values by stream and cell ---- */

struct llama_cache;

/* Streams: 1 if unified, else r->sequences; r->cells each. A verifier of one
 * sequence may give a recipe of its own with fewer. -EINVAL, -ENOMEM. */
int llama_cache_open(const struct llama_model *m, const struct llama_recipe *r,
                     struct llama_cache **ret_c);
void llama_cache_close(struct llama_cache *c);

/* Forgets positions from <= p < to of a sequence (as the engine: an emptied
 * cell below the head lowers it). to may be UINT32_MAX. */
void llama_cache_remove(struct llama_cache *c, uint32_t sequence, uint32_t from,
                        uint32_t to);
/* dst becomes a copy of src: in a unified cache the cells are shared, with
 * streams the whole stream is copied. */
void llama_cache_copy(struct llama_cache *c, uint32_t src, uint32_t dst);
/* Positions of a sequence: one past the largest; 0: none. */
uint32_t llama_cache_length(const struct llama_cache *c, uint32_t sequence);

/* A sequence's keys and values outside the cells (the RAM prompt cache). The
 * caller closes it. Restoring forgets what the sequence held and looks for
 * cells as for a batch of as many tokens. -ENOMEM; -ENOSPC: no cells. */
struct llama_saved;
int llama_cache_save(const struct llama_cache *c, uint32_t sequence,
                     struct llama_saved **ret_s);
int llama_cache_restore(struct llama_cache *c, uint32_t sequence,
                        const struct llama_saved *s);
void llama_saved_close(struct llama_saved *s);

/* ---- one ubatch ---- */

struct llama_token {
    uint32_t id;
    uint32_t position;
    uint32_t sequence;
    uint32_t
        cell;    /* in the sequence's stream: llama_find_slot, or the caller */
    bool wanted; /* its logits are */
};

/*
 * Gives every token its cell as the engine does: streams: from the stream's
 * head, which follows positions; unified: any empty cells from the head on,
 * with wrap (facts of find_slot). Marks nothing: llama_run does. -ENOSPC: the
 * engine would have refused the ubatch.
 */
int llama_find_slot(const struct llama_cache *c, struct llama_token *t,
                    size_t n);

/* Placed tokens take their cells and nothing is computed: for sequences whose
 * keys and logits nobody asks for. */
void llama_take_cells(struct llama_cache *c, const struct llama_token *t,
                      size_t n);

/*
 * What the engine's true ubatch looked like, where that chooses kernels. The
 * rows we run stand together in it, our first one at `first` of `rows`;
 * likewise among the wanted rows (last FFN and head run on those alone).
 */
struct llama_selection {
    uint32_t rows, first;
    uint32_t wanted, wanted_first;
    /* Rows of each stream in the ubatch: 1; >= 2; >= 64 is tiled with flash
     * attention. Unified: rows. */
    uint32_t stream_rows;
    /* Flash attention over one token cuts the cells at these (ascending, of
     * the cells we run with) into chunks, one for each engine thread. None: it
     * did not. */
    uint32_t n_borders;
    const uint32_t *borders; /* borrowed */
    /* Each of our tokens was a ubatch like this, at first and wanted_first,
     * one after another: known answers are replayed many tokens at a time. */
    bool each;
};

/* Room for the borders of any recipe. */
struct llama_selection_room {
    uint32_t borders[LLAMA_SEQUENCES];
};

/* The choice for tokens first..first + n - 1 of a placed ubatch of n_all, as
 * they stand in the cache (before it is run). The borders lie in *room. */
struct llama_part {
    const struct llama_token *tokens; /* the whole ubatch */
    size_t n_all, first, n;
};
void llama_select_kernels(const struct llama_cache *c,
                          const struct llama_part *p,
                          struct llama_selection_room *room,
                          struct llama_selection *ret_selection);

/* Scratch memory and threads of a caller; one ubatch at a time. */
struct llama_run;

/* kernels: "ref", "avx2", "avx512"; NULL: the fastest here; m and p are
 * borrowed until llama_run_close. p NULL: the caller's thread alone.
 * -ENOTSUP: these kernels do not run on this CPU. -EDOM: MXCSR. -ENOMEM. */
int llama_run_open(const struct llama_model *m, struct pool *p,
                   const char *kernels, struct llama_run **ret_x);
void llama_run_close(struct llama_run *x);

/* Tokens that are run together. selection NULL: they are all of the ubatch. */
struct llama_ubatch {
    const struct llama_token *tokens;
    size_t n;
    const struct llama_selection *selection;
};

/*
 * Writes keys and values of the tokens into their cells (whatever a cell held
 * is forgotten) and the logits of the wanted ones, in order, vocab floats
 * each, to logits. Tokens of one stream stand together. -ERANGE: an id, a cell
 * or a sequence out of bounds. -EINVAL: a selection that contradicts the
 * tokens. -ENOMEM. After an error the cache is as it was.
 */
int llama_run_ubatch(struct llama_run *x, struct llama_cache *c,
                     const struct llama_ubatch *u, float *logits);

#endif
