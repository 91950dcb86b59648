/*
 * verify.h - the auditor's check of a bundle: everything that follows from its
 * bytes and a public key. No database, no network, no clock. Sees bundle, draw
 * and seed.
 *
 *     files -> leaves -> signature -> tree -> records        verify_log.c
 *       -> genesis, policy, frame, close                     verify_epoch.c
 *       -> order, reveals, VRF, seed, draw                   verify_draw.c
 *       -> jobs, verdicts, answers, certificate              verify_answers.c
 *       -> report.h: a row a check, and what is proved
 *
 * What a check has shown the next ones rest on; where one fails, those that
 * would rest on it are "not checked". Whatever can be made again is, and then
 * compared byte by byte with what the bundle says.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_VERIFY_H
#define SAMPLER_VERIFY_H

#include "bundle/bundle.h"
#include "bundle/dossier.h"
#include "store/note.h"
#include "verify/report.h"

struct verify_options {
    const char *vkey;  /* the log's key, from a trusted source; NULL: none */
    struct span since; /* a checkpoint that the auditor holds; empty: none */
};

/* What the checks hand on to one another. */
struct verify {
    const struct bundle *b;
    const struct verify_options *o;
    struct report *r;
    struct leafset set;
    struct dossier d;
    struct note_key key;
    struct checkpoint head;    /* what ./checkpoint signs */
    struct checkpoint *points; /* checkpoints/, ordered by size */
    size_t n_points;
    const uint8_t (*hashes)[MERKLE_HASH];
    struct policy policy;
    struct epoch_close close; /* made again */
    struct frame frame;
    struct epoch_seed seed; /* as recorded */
    struct draw draw;
    struct answers answers;
};

/* Runs every check over a bundle that was read. Fills ret_r, whose statement
 * says what is proved if nothing failed. */
void verify_bundle(const struct bundle *b, const struct verify_options *o,
                   struct report *ret_r);
/* The report of a directory that is no bundle. */
void verify_refused(const char *why, struct report *ret_r);

/*
 * The checks, in their order. Each says on the report's last row what it
 * found; false: what comes later must not build on it.
 */
/* verify_log.c */
bool verify_files(struct verify *v);
bool verify_manifest(struct verify *v);
bool verify_leaves(struct verify *v);
bool verify_signature(struct verify *v);
bool verify_tree(struct verify *v);
bool verify_checkpoints(struct verify *v);
bool verify_hashes(struct verify *v);
bool verify_records(struct verify *v);
bool verify_since(struct verify *v);
/* verify_epoch.c */
bool verify_genesis(struct verify *v);
bool verify_epoch(struct verify *v);
bool verify_policy(struct verify *v);
bool verify_frame(struct verify *v);
bool verify_close(struct verify *v);
/* verify_draw.c */
bool verify_order(struct verify *v);
bool verify_reveals(struct verify *v);
bool verify_vrf(struct verify *v);
bool verify_seed(struct verify *v);
bool verify_draw(struct verify *v);
/* verify_answers.c */
bool verify_jobs(struct verify *v);
bool verify_verdicts(struct verify *v);
bool verify_answers(struct verify *v);
bool verify_certificate(struct verify *v);

/* verify.c: a record's body against the one made again; says the first line
 * that differs. */
bool verify_body(struct verify *v, const struct bundle_leaf *l,
                 const struct record *made);
/* A file of the epoch's folder against what follows from the records. */
bool verify_text(struct verify *v, const char *name, struct span made);
/* The file must not be there, since there is no such record. */
bool verify_no_text(struct verify *v, const char *name);

#endif
