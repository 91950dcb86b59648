/*
 * draw.h - the draw: from a frame and a seed, which units are checked; and with
 * it the folder draw: what is drawn, what came back, and what that is worth.
 * Pure arithmetic over structs: sees the seed's folder, no record of an epoch,
 * no index. Sampler and auditor call the same functions.
 *
 *     policy.h: strata, sizes --.
 *     frame.h: units -----------+--> draw --> answers.h: verdicts, the worst
 *     seed.h -------------------'                 |      of each unit
 *                                                 v
 *              account.h: the records that say so <-- bound.h: how many bad
 *                                                     units stay possible
 *
 *     ticket(unit) = HMAC-SHA-256(seed, "assay-ticket/v1" || 0x00 || unit)
 *
 * Of each stratum the wanted number of smallest tickets, compared as 32-byte
 * big-endian numbers, a tie by the unit. Uniform, without replacement, in any
 * order of reading, in integers only; anybody can redo one ticket with
 * `openssl dgst -sha256 -mac HMAC`.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_DRAW_H
#define SAMPLER_DRAW_H

#include "sampler/frame.h"
#include "sampler/seed.h"

enum { DRAW_TICKET = 32 };

struct drawn {
    uint64_t index; /* in the frame */
    uint8_t ticket[DRAW_TICKET];
};

/* Owns the array; ordered by index. */
struct draw {
    struct drawn *units;
    size_t n;
};

/* -EIO: OpenSSL failed. */
int draw_ticket(const uint8_t seed[SEED_BYTES], const uint8_t unit[MERKLE_HASH],
                uint8_t ret_ticket[DRAW_TICKET]);

/*
 * wanted[h]: how many units of stratum h, of n_strata; all of them if it has
 * fewer. A unit of a stratum outside is -EINVAL. -ENOMEM, -EIO. The caller
 * ends *ret_draw with draw_fini.
 */
int draw_frame(const struct frame *f, const uint8_t seed[SEED_BYTES],
               const uint64_t *wanted, size_t n_strata, struct draw *ret_draw);
void draw_fini(struct draw *d);

#endif
