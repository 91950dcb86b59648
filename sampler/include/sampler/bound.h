/*
 * bound.h - what a sample is worth: exact hypergeometric arithmetic.
 *
 * A frame of `units`, of which an unknown number is bad, is sampled without
 * replacement; `failed` of the `drawn` did not reproduce. Everything that is
 * not a MATCH is failed: uncheckable, unstable, unanswered. The bound and the
 * counts that the page shows come from the same structs, so they cannot
 * disagree.
 *
 * Rounding is against us everywhere: probabilities of missing are rounded up
 * after each step, in integers, so every machine gets the same bits. A sample
 * size may therefore be one larger, a bound one unit higher than in exact
 * arithmetic where that would sit on the limit itself; never the reverse.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_BOUND_H
#define SAMPLER_BOUND_H

#include <stddef.h>
#include <stdint.h>

enum { PPM = 1000000 };

/* The accepted probability of being wrong, num / den; den at most 2^40. */
struct risk {
    uint64_t num;
    uint64_t den;
};

/* 1 - confidence, shared equally by `parts` claims that must all hold
 * (Bonferroni). confidence_ppm < PPM, parts > 0. */
struct risk risk_of(uint32_t confidence_ppm, uint64_t parts);

/* Smallest sample that misses all `bad` units with probability at most risk.
 * 0 < bad <= units. */
uint64_t bound_sample_size(uint64_t units, uint64_t bad, struct risk risk);

/*
 * Largest number of bad units that the sample leaves possible: the greatest K
 * with P(X <= failed | units, K, drawn) > risk, hence one-sided at confidence
 * 1 - risk. failed <= drawn <= units. Nothing drawn: all of them.
 */
uint64_t bound_bad_units(uint64_t units, uint64_t drawn, uint64_t failed,
                         struct risk risk);

/* part of whole in ppm, rounded up; PPM when whole is 0: of nothing, nothing
 * is known. part <= whole. */
uint32_t bound_ppm(uint64_t part, uint64_t whole);

/* The bad units that make up a share: ceil(share * units), at least 1 and at
 * most units. */
uint64_t bound_units_of(uint32_t share_ppm, uint64_t units);

struct stratum_count {
    uint64_t units;
    uint64_t drawn;
    uint64_t failed;
    uint64_t bound; /* out: bad units that stay possible */
};

/*
 * Fills the bound of each stratum and returns their sum, which holds for all
 * of them together at the given confidence: the risk is shared by the strata
 * that are neither fully drawn nor not drawn at all; for those two the number
 * is certain.
 */
uint64_t bound_strata(struct stratum_count *strata, size_t n,
                      uint32_t confidence_ppm);

#endif
