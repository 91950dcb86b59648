/*
 * ledger_state.h - what ledger.c and ledger_open.c share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LEDGER_STATE_H
#define STORE_LEDGER_STATE_H

#include "index/indexer.h"
#include "ledger/recent.h"
#include "log/logfile.h"
#include "log/signing.h"
#include "store/record.h"
#include "vault/keys.h"
#include "vault/vault.h"

struct ledger {
    char *state_dir;
    int lock;
    struct keys keys;
    struct signing *signing;
    struct logfile *log;
    struct leaflog *reader;
    struct vault *vault;
    uint64_t vault_end; /* behind the last payload that has a leaf */
    struct indexer *index;
    struct recent *recent; /* NULL until something is sent again */
    int failed;            /* of this batch, -errno */
    char leaf[RECORD_MAX + 1];
};
/* Adds the checkpoints that the index lacks, in order of size: it lacks none
 * below its largest. */
int ledger_add_notes(struct ledger *l, struct indexer *x);

#endif
