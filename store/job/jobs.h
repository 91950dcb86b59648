/*
 * jobs.h - what the store does about a draw: for each drawn unit a claim for
 * assay-compare and a job packet for the worker, then the record `job`; for
 * each result record the worker's result as a file beside.
 *
 * Blind: claim and packet at once. Forced: the claim first; the packet when
 * assay-compare has taken the token ids from it (record `claimed`). A unit that
 * cannot be run gets a claim of mode none with the reason, and its record.
 * Every step can be done again: after a crash the index tells what is missing.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include "ledger/ledger.h"

struct jobs_config {
    bool forced;             /* the mode of forced_percent of the jobs */
    unsigned forced_percent; /* the others are blind */
    uint32_t runs;
};

struct jobs;

int jobs_open(struct ledger *l, const struct jobs_config *config,
              struct jobs **ret_j);
void jobs_close(struct jobs *j);
/* Does one piece of work; *ret_did false: there was none. Adds records to the
 * ledger's batch, which the caller commits. -ENOSPC and the like: nothing is
 * lost, try again later. */
int jobs_step(struct jobs *j, bool *ret_did);

#endif
