/*
 * bundle.h - an exported epoch: one directory, plain files.
 *
 *   README.verify.txt     what this is, and commands to check it by hand
 *   manifest.sha256       sha256sum of every other file, by name
 *   checkpoint            the signed note that everything is checked against
 *   checkpoints/SIZE      every signed note up to that size
 *   log/hashes            the leaf hash of each leaf, 32 bytes each, from 0
 *   log/leaves            leaves as bytes, one behind the other (leafset.h):
 *                         all from the epoch's first on, and of the earlier
 *                         ones the declarations and the epoch before
 *   epoch-N/policy.txt    the policy in force
 *   epoch-N/frame.bin     the frame, 52 bytes an entry (sampler/frame.h)
 *   epoch-N/seed.txt      the seed text: its SHA-256 is the seed
 *   epoch-N/draw.txt      the drawn units with their tickets
 *   epoch-N/verdicts.txt  what came back for each
 *
 * The last three files are left out as long as the epoch has no such record.
 * What lies in epoch-N follows from log/leaves and is there to be read; nothing
 * rests on it. No file holds content of a request or an answer.
 *
 * The way there and back, without a database:
 *
 *     leaves -> leafset.h -> dossier.h: the epoch's records and what follows
 *                                |     from them alone
 *         export.h <-------------+-------------> verify (a folder of its own)
 *         makes files of it                      makes them again, compares
 *
 * Sees draw and seed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_BUNDLE_H
#define SAMPLER_BUNDLE_H

#include "store/span.h"

enum { BUNDLE_NAME = 96, BUNDLE_WHY = 256 };

struct bundle_file {
    char name[BUNDLE_NAME]; /* with its folder */
    uint8_t *bytes;
    size_t n;
};

struct bundle {
    struct bundle_file *files; /* ordered by name; owned */
    size_t n, size;
    uint64_t epoch; /* of its folder */
};

/*
 * Reads a whole directory into memory. -EBADMSG: it is no bundle, why (of
 * BUNDLE_WHY bytes) says what stands against it: a link, a device, an unknown
 * or a doubtful name, no epoch or several. Other errors are those of reading.
 * The caller ends ret_b with bundle_fini.
 */
int bundle_read(const char *dir, struct bundle *ret_b, char *why);
void bundle_fini(struct bundle *b);
/* NULL if there is no such file. */
const struct bundle_file *bundle_find(const struct bundle *b, const char *name);
/* A file of the epoch's folder. */
const struct bundle_file *bundle_find_epoch(const struct bundle *b,
                                            const char *name);
struct span bundle_bytes(const struct bundle_file *f);

/* Adds a copy of bytes; for those who make a bundle. -ENOMEM,
 * -ENAMETOOLONG. */
int bundle_add(struct bundle *b, const char *name, struct span bytes);
/* Adds manifest.sha256 over all files that are in b. */
int bundle_add_manifest(struct bundle *b);
/* Writes all files under dir, which must not exist, synced and complete or not
 * at all: dir.partial is renamed at the end. */
int bundle_write(const struct bundle *b, const char *dir);

#endif
