/*
 * policy.h - the sampling policy: a small text that is hashed into every close
 * and recorded as it stands. docs/sampling.md explains the choices.
 *
 *     assay-policy/v1
 *     confidence 95%
 *     party auditor                    one line a party; or `party none`
 *     reveal_within 86400              seconds from close to a late reveal
 *     answer_within 604800             seconds from draw to an unanswered unit
 *     stratum other unknown draw 20    first match wins; the last is `any`
 *     stratum rest any draw bad 1%
 *
 * In this order, words parted by one space, lines ended by LF; lines that are
 * empty or start with '#' are skipped. Match: `any`, `incomplete`, `unknown`
 * (no API was understood), `model=TEXT`, `api=TEXT` (TEXT as in records).
 * Size: `all`, a number, or `bad SHARE` with an optional `at CONFIDENCE`: as
 * many as it takes to meet at least one if that share is bad. Percents have at
 * most four decimals.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_POLICY_H
#define SAMPLER_POLICY_H

#include "store/span.h"

enum {
    POLICY_MAX = 8192, /* bytes of a text */
    POLICY_PARTIES = 16,
    POLICY_STRATA = 32,
    POLICY_NAME = 33, /* bytes of a name, with its NUL */
    POLICY_VALUE = 128,
    POLICY_PERCENT = 16
};

enum policy_match {
    MATCH_ANY,
    MATCH_INCOMPLETE,
    MATCH_UNKNOWN,
    MATCH_MODEL,
    MATCH_API
};

enum policy_size { SIZE_ALL, SIZE_NUMBER, SIZE_BAD };

struct policy_stratum {
    char name[POLICY_NAME];
    enum policy_match match;
    char value[POLICY_VALUE]; /* of model= and api=, decoded */
    size_t value_n;
    enum policy_size size;
    uint64_t number;         /* of SIZE_NUMBER */
    uint32_t share_ppm;      /* of SIZE_BAD */
    uint32_t confidence_ppm; /* of SIZE_BAD */
};

struct policy {
    uint32_t confidence_ppm;
    char party[POLICY_PARTIES][POLICY_NAME];
    size_t n_parties; /* 0: none, as the text says */
    uint64_t reveal_within_s, answer_within_s;
    struct policy_stratum stratum[POLICY_STRATA];
    size_t n_strata;
    uint8_t sha256[32]; /* of the text */
};

struct policy_error {
    unsigned line;
    const char *why; /* static */
};

enum parse policy_parse(struct span text, struct policy *ret_p,
                        struct policy_error *ret_e);

/* Writes ppm (at most PPM) as a policy does: "12.5%". Returns text. */
char *policy_percent(uint32_t ppm, char text[POLICY_PERCENT]);

/* What a stratum may look at. */
struct policy_facts {
    struct span model, api;
    bool complete;
};

/* Number of the stratum of such an exchange. */
uint32_t policy_stratum_of(const struct policy *p,
                           const struct policy_facts *facts);
/* How many of so many units are drawn in a stratum. */
uint64_t policy_sample(const struct policy *p, size_t stratum, uint64_t units);

#endif
