/*
 * engine.h - an inference engine as the worker sees it: one row of a table.
 *
 * An engine is a folder below engine/ that runs a job's request again as its
 * own server computed it, to the bit. Whoever runs jobs knows this header and
 * the rows of engine/engines.c, and no engine by its name:
 *
 *     directory --owns-> row --open-> model --facts-> manifest leaf, log
 *                                       |
 *                  job packet --run-----+--> outcome --> result
 *
 * A model is opened once, runs any number of jobs, one after the other, and is
 * closed. What the store must put into the packets of its jobs is one of its
 * facts, and stands in the manifest leaf as words.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_ENGINE_H
#define RECOMPUTE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "store/job.h"

struct manifest;
struct arena;
struct error;

struct engine_options {
    const char *recipes; /* the folder of recipes */
    unsigned threads;    /* of our own; 0: one for each CPU */
    bool facts_only;     /* nothing will be run: weights may stay unread */
};

/* What an answer that a model does not give is tried with. */
struct engine_alternative {
    const char *words; /* "Q8_0 weights, declared BF16" */
    const char *file;  /* of other weights, as it is declared; or NULL */
    const char *path;  /* and where it lies */
};

struct engine_facts {
    const char *recipe;  /* "": its numerics have none */
    const char *level;   /* of a job without a feed: docs/records.md; or "" */
    const char *needs;   /* of its jobs: "feed neighbours again"; or "" */
    const char *summary; /* for the log, key=value */
    const struct engine_alternative *alternatives;
    size_t n_alternatives;
};

/* What came of one job. Whoever runs it has filled the head of the result
 * (unit, nonce, worker, model, route "invariant", level "-"), and ends the
 * memory, which owns what the result points to. */
struct outcome {
    struct result result;
    struct arena *memory;
};

enum { ENGINE_DECLARED }; /* alternative i is facts' number i - 1 */

struct engine {
    const char *name;     /* "llama.cpp" */
    const char *numerics; /* "ggml" */
    /* The directory declares one of its models. */
    bool (*owns)(const char *dir);
    /* Adds each file that decides what dir answers (recompute/manifest.h);
     * errors of manifest_add. */
    int (*files)(const char *dir, struct manifest *m, struct error *ret_error);
    /* -EINVAL: a file is refused, ret_error says which and for what. -ENOENT:
     * no recipe covers it, or a file is missing. -EDOM: the floating-point
     * environment is not the default one. -ENOMEM, errno of reading. */
    int (*open)(const char *dir, const struct engine_options *o,
                void **ret_model, struct error *ret_error);
    void (*close)(void *model);
    /* Borrowed from the model. */
    const struct engine_facts *(*facts)(const void *model);
    /* Fills choices, counts, route and level. 0, or an errno with *ret_reason
     * a word of docs/records.md. */
    int (*run)(void *model, const struct job *j, size_t alternative,
               struct outcome *o, const char **ret_reason);
};

/* The table; ends with NULL. The first that owns a directory opens it. */
extern const struct engine *const engines[];

/* Makes it of a list of rows: a macro that calls its argument with the name of
 * each. */
#define ENGINE_TABLE(LIST) \
    LIST(ENGINE_DECLARE)   \
    const struct engine *const engines[] = {LIST(ENGINE_POINT) NULL};
#define ENGINE_DECLARE(row) extern const struct engine row;
#define ENGINE_POINT(row)   &(row),

#endif
