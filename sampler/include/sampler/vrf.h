/*
 * vrf.h - ECVRF-P256-SHA256-TAI, RFC 9381, suite 0x01: a value that only the
 * holder of a key can compute and everybody can check, unique for its input.
 *
 *   public key 33 octets, SEC1 compressed
 *   proof pi   81 octets: Gamma (33) || c (16) || s (32)
 *   output     32 octets, beta
 * Integers are big-endian.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_VRF_H
#define SAMPLER_VRF_H

#include "store/span.h"

enum {
    VRF_SECRET = 32,
    VRF_PUBLIC = 33,
    VRF_C = 16,
    VRF_PROOF = VRF_PUBLIC + VRF_C + 32,
    VRF_OUTPUT = 32
};

/* The public key of a secret scalar. -EINVAL: not in 1..q-1; -ENOMEM. */
int vrf_public(const uint8_t secret[VRF_SECRET],
               uint8_t ret_public[VRF_PUBLIC]);
/* Section 5.1, with the nonce of RFC 6979 (5.4.2.1). -EINVAL: secret not in
 * 1..q-1; -ENOMEM: also when no point was found for alpha (2^-256). */
int vrf_prove(const uint8_t secret[VRF_SECRET], struct span alpha,
              uint8_t ret_pi[VRF_PROOF]);
/* Section 5.3 with key validation (5.4.5): true and beta, or false. Any other
 * length of key or proof is false. */
bool vrf_verify(struct span public_key, struct span alpha, struct span pi,
                uint8_t ret_beta[VRF_OUTPUT]);
/* Section 5.2: the output of a proof, without checking it. */
bool vrf_output(struct span pi, uint8_t ret_beta[VRF_OUTPUT]);

/* Reads the secret scalar of a P-256 key in PEM. -EINVAL: no such key, or the
 * errno of opening. The caller cleanses secret. */
int vrf_secret_load(const char *path, uint8_t ret_secret[VRF_SECRET]);

#endif
