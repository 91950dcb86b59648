/*
 * bundle_text.h - the files of a bundle that are made for reading.
 * Each returns a text that the caller frees, or NULL for want of memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_BUNDLE_TEXT_H
#define SAMPLER_BUNDLE_TEXT_H

#include "bundle/dossier.h"

/*
 * draw.txt:
 *     assay-draw/v1
 *     epoch E
 *     seed HEX
 *     drawn N of UNITS
 *     INDEX STRATUM TICKET UNIT        by index
 */
char *bundle_text_draw(uint64_t epoch, const uint8_t seed[SEED_BYTES],
                       const struct frame *f, const struct draw *d);
/*
 * verdicts.txt:
 *     assay-verdicts/v1
 *     epoch E
 *     INDEX UNIT OUTCOME VERDICTS      by index; VERDICTS: how many records
 */
char *bundle_text_verdicts(uint64_t epoch, const struct draw *d,
                           const struct frame *f, const struct answers *a);
/* frame.bin; *ret_n its bytes. */
uint8_t *bundle_text_frame(const struct frame *f, size_t *ret_n);

struct readme_facts {
    const struct dossier *d;
    const char *origin;
    uint64_t size; /* of the checkpoint */
};

/* README.verify.txt. */
char *bundle_text_readme(const struct readme_facts *f);

const char *outcome_text(enum outcome o); /* "MATCH" ... "UNANSWERED" */

#endif
