/*
 * batch_step.h - messages of the batch feed (docs/batch-feed.md): reading one,
 * and the records that come of it.
 * Comes in: one line of JSON from an engine, foreign bytes. Goes out: a struct
 * batch_step, and the bodies of records of kind batch_step.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_BATCH_STEP_H
#define TAP_BATCH_STEP_H

#include "store/span.h"

enum {
    BATCH_MESSAGE_MAX = 1 << 20,
    BATCH_TEXT_MAX = 256, /* bytes of an engine, feed or request name */
    BATCH_OP_MAX = 512,
    BATCH_MEMBERS_MAX = 65536
};

struct batch_member {
    struct span id;
    uint64_t choice, start, n, cached;
    uint64_t prompt_n; /* first pass: tokens of the prompt; else 0 */
    bool has_digest;
    uint8_t digest[32]; /* SHA-256 of the prompt ids as big-endian u32 */
};

struct batch_step {
    struct span engine, feed;
    struct span names; /* whose ids the members carry: answers, engine */
    uint64_t seq, step, time_ns, padded;
    struct batch_member *members;
    size_t n_members;
    struct span *ops;
    size_t n_ops;
    void *json; /* owns the texts */
};

/*
 * Reads one message, strictly: an unknown key, a missing one, a wrong type or
 * range is PARSE_BAD, and *ret_why says which in words that name no content.
 * The caller ends ret_s with batch_step_free, after PARSE_BAD too.
 */
enum parse batch_step_read(struct span line, struct batch_step *ret_s,
                           const char **ret_why);
void batch_step_free(struct batch_step *s);

struct record;
/* How many records the message needs: at least 1. */
size_t batch_step_parts(const struct batch_step *s, struct span tap);
/* Writes part `part` of `parts`, counted from 1. */
void batch_step_record(const struct batch_step *s, struct span tap, size_t part,
                       size_t parts, struct record *r);

#endif
