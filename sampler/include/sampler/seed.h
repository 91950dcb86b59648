/*
 * seed.h - the seed of an epoch's draw, from a text that anybody can hash; and
 * with it the folder seed: whence a draw's chance comes, and how anybody holds
 * us to it. Sees bytes alone: no record, no index, no clock.
 *
 *     chain.h   a party's chain of values, fixed when it enrols --.
 *     vrf.h     the appliance's value, from its key and alpha ----+-> seed
 *               frame root and policy of the closed epoch --------'
 *
 * None of the three can be chosen once another is known: chain and key were
 * fixed before, the frame is sealed before a value of either is told.
 *
 *     assay-seed/v1
 *     origin ORIGIN
 *     epoch E
 *     frame N BASE64(frame root)
 *     policy BASE64(SHA-256 of the policy's text)
 *     SOURCE HEX                      one line a source, in the policy's order
 *     vrf 01 HEX                      output of the appliance's VRF
 *
 * Every line ends with LF; the seed is SHA-256 of the text. SOURCE of a
 * party's reveal is "reveal PARTY"; another kind of entropy is another word
 * there. The VRF's input names the epoch before, so that nobody can try frames
 * until an output pleases:
 *     assay-vrf/v1 LF origin LF epoch LF hex(previous seed) LF
 * with 64 zeros as the seed before epoch 1.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_SEED_H
#define SAMPLER_SEED_H

#include "store/span.h"

enum { SEED_BYTES = 32, SEED_TEXT = 8192, SEED_ALPHA = 512, SEED_SOURCES = 16 };

struct seed_source {
    char name[160]; /* "reveal auditor" */
    uint8_t value[32];
};

struct seed_input {
    const char *origin;
    uint64_t epoch;
    uint64_t units;
    uint8_t frame_root[32];
    uint8_t policy[32]; /* SHA-256 of its text */
    struct seed_source source[SEED_SOURCES];
    size_t n_sources;
    uint8_t vrf_beta[32];
};

/* Writes the text, NUL-terminated, and its seed; returns its length, or 0 if
 * it does not fit SEED_TEXT. */
size_t seed_make(const struct seed_input *in, char ret_text[SEED_TEXT],
                 uint8_t ret_seed[SEED_BYTES]);
/* Writes the VRF's input, NUL-terminated; returns its length, or 0 if it does
 * not fit. */
size_t seed_alpha(const char *origin, uint64_t epoch,
                  const uint8_t previous[SEED_BYTES],
                  char ret_alpha[SEED_ALPHA]);

#endif
