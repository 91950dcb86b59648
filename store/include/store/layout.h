/*
 * layout.h - where everything lies under the state directory.
 *
 *   log/leaves, log/offsets   the log (leaflog.h)
 *   vault/payloads            the payloads, encrypted (vault.h)
 *   index.db                  SQLite: what the readers query (index.h)
 *   checkpoints/SIZE          signed notes, SIZE in decimal
 *   jobs/EPOCH-UNIT.job, jobs/EPOCH-UNIT.again, claims/EPOCH-UNIT.claim,
 *   results/EPOCH-UNIT-RUN.result       (job.h)
 *   keys/log.key, vault.key   32 raw bytes each, for assay-store alone
 *   keys/vrf.key              EC P-256 private key, PEM, for assay-sampler
 *   lock                      held by the store that runs
 * The log and the vault are the truth, the rest but the keys and checkpoints
 * can be made again from them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <limits.h>
#include <stdint.h>

#define LAYOUT_LEAVES      "log/leaves"
#define LAYOUT_OFFSETS     "log/offsets"
#define LAYOUT_PAYLOADS    "vault/payloads"
#define LAYOUT_INDEX       "index.db"
#define LAYOUT_CHECKPOINTS "checkpoints"
#define LAYOUT_JOBS        "jobs"
#define LAYOUT_CLAIMS      "claims"
#define LAYOUT_RESULTS     "results"
#define LAYOUT_LOG_KEY     "keys/log.key"
#define LAYOUT_VAULT_KEY   "keys/vault.key"
#define LAYOUT_VRF_KEY     "keys/vrf.key"

struct path {
    char text[PATH_MAX];
};

/* dir/name. A path that is too long becomes "", which nothing can open. */
struct path layout_path(const char *dir, const char *name);
/* dir/jobs/EPOCH-UNIT.job and so on; unit: 32 bytes. */
struct path layout_job(const char *dir, uint64_t epoch, const uint8_t *unit);
struct path layout_again(const char *dir, uint64_t epoch, const uint8_t *unit);
struct path layout_claim(const char *dir, uint64_t epoch, const uint8_t *unit);
struct path layout_result(const char *dir, uint64_t epoch, const uint8_t *unit,
                          uint64_t run);

#endif
