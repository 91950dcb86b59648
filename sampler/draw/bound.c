/*
 * bound.c - hypergeometric sample sizes and upper bounds, in integers.
 * Comes in: counts. Goes out: sizes and bounds, rounded against us.
 *
 * A probability is kept as m * 2^e with a 64-bit m. Every operation rounds
 * towards plus infinity, and all of them (products, quotients and sums of
 * positive numbers) are monotone, so the value kept is never below the true
 * one. With P^ >= P:
 *   sample size  P^(miss) <= risk  implies  P(miss) <= risk: the size is
 *                enough.
 *   bound        bisection ends at K with P^(K + 1) <= risk, so P(K + 1) <=
 *                risk; P falls with K, so every K' > K is excluded as well:
 *                K is not below the true bound.
 * Each operation adds a relative error below 2^-63; after a million of them
 * it is below 2^-43, far under one unit except on a tie.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/bound.h"

#include <assert.h>
#include <stdbool.h>

__extension__ typedef unsigned __int128 u128;

struct upper {
    uint64_t m; /* 2^63 <= m, or 0 for zero */
    int64_t e;
};

static const struct upper one = {UINT64_C(1) << 63, -63};
static const struct upper zero = {0, 0};

/* v * 2^e, and more (less than one unit of v) if more is set; v >= 2^63. */
static struct upper pack(u128 v, bool more, int64_t e)
{
    struct upper r;
    uint64_t high = (uint64_t)(v >> 64);
    int shift = high == 0 ? 0 : 64 - __builtin_clzll(high);

    if (shift > 0 && (v & (((u128)1 << shift) - 1)) != 0)
        more = true;
    r.m = (uint64_t)(v >> shift);
    r.e = e + shift;
    if (more && ++r.m == 0) {
        r.m = UINT64_C(1) << 63;
        r.e++;
    }
    return r;
}

/* p * num / den, den > 0. The product is shifted to 128 bits first, so the
 * quotient keeps at least 64. */
static struct upper scale(struct upper p, uint64_t num, uint64_t den)
{
    u128 v = (u128)p.m * num;
    int shift = 0;

    assert(den > 0);
    if (v == 0)
        return zero;
    if (v >> 64 == 0) {
        v <<= 64;
        shift = 64;
    }
    if (v >> 64 != 0) {
        int lead = __builtin_clzll((uint64_t)(v >> 64));

        v <<= lead;
        shift += lead;
    }
    return pack(v / den, v % den != 0, p.e - shift);
}

static struct upper plus(struct upper a, struct upper b)
{
    int64_t gap;

    if (a.m == 0)
        return b;
    if (b.m == 0)
        return a;
    if (a.e < b.e) {
        struct upper t = a;

        a = b;
        b = t;
    }
    gap = a.e - b.e;
    if (gap > 63) /* b is less than one unit of a */
        return pack(a.m, true, a.e);
    return pack(((u128)a.m << gap) + b.m, false, b.e);
}

/* p <= num / den, exactly. */
static bool at_most(struct upper p, struct risk r)
{
    u128 left = (u128)p.m * r.den;

    if (p.m == 0)
        return true;
    if (r.num == 0 || p.e >= 0)
        return false;
    if (p.e <= -128 || (u128)r.num >> (128 + p.e) != 0)
        return true;
    return left <= (u128)r.num << -p.e;
}

struct risk risk_of(uint32_t confidence_ppm, uint64_t parts)
{
    struct risk r = {PPM - confidence_ppm, PPM * parts};

    assert(confidence_ppm < PPM && parts > 0 && parts < (1 << 20));
    return r;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* C(units - bad, drawn) / C(units, drawn). */
static struct upper miss(uint64_t units, uint64_t bad, uint64_t drawn)
{
    uint64_t few = lesser(bad, drawn), many = bad + drawn - few;
    struct upper p = one;

    if (many > units - few)
        return zero;
    for (uint64_t i = 0; i < few; i++)
        p = scale(p, units - many - i, units - i);
    return p;
}

/* P(X = bad + drawn - units), the least possible X when more is bad than was
 * left out: bad! drawn! / (units! (bad + drawn - units)!). */
static struct upper least(uint64_t units, uint64_t bad, uint64_t drawn)
{
    uint64_t few = lesser(units - bad, units - drawn);
    uint64_t top = lesser(bad, drawn);
    struct upper p = one;

    for (uint64_t i = 0; i < few; i++)
        p = scale(p, top - i, units - i);
    return p;
}

/* P(X <= failed). Successive terms differ by the factor
 * (bad - j)(drawn - j) / ((j + 1)(units - bad - drawn + j + 1)). */
static struct upper at_most_failed(uint64_t units, uint64_t bad, uint64_t drawn,
                                   uint64_t failed)
{
    bool over = bad > units - drawn;
    uint64_t j = over ? bad - (units - drawn) : 0;
    uint64_t first = j;
    uint64_t good = over ? 0 : units - drawn - bad;
    struct upper term, sum;

    if (j > failed)
        return zero;
    if (failed >= lesser(bad, drawn))
        return one;
    term = over ? least(units, bad, drawn) : miss(units, bad, drawn);
    sum = term;
    for (; j < failed; j++) {
        term = scale(term, bad - j, j + 1);
        term = scale(term, drawn - j, good + (j - first) + 1);
        sum = plus(sum, term);
    }
    return sum;
}

uint64_t bound_sample_size(uint64_t units, uint64_t bad, struct risk risk)
{
    uint64_t low = 0, high = units; /* high is enough, as bad > 0 */

    assert(bad > 0 && bad <= units);
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        if (at_most(miss(units, bad, mid), risk))
            high = mid;
        else
            low = mid + 1;
    }
    return high;
}

uint64_t bound_bad_units(uint64_t units, uint64_t drawn, uint64_t failed,
                         struct risk risk)
{
    /* low is possible; the good ones that were seen bound it above. */
    uint64_t low = failed, high = units - (drawn - failed);

    assert(failed <= drawn && drawn <= units);
    while (low < high) {
        uint64_t mid = low + (high - low + 1) / 2;

        if (at_most(at_most_failed(units, mid, drawn, failed), risk))
            high = mid - 1;
        else
            low = mid;
    }
    return low;
}

uint32_t bound_ppm(uint64_t part, uint64_t whole)
{
    assert(part <= whole);
    if (whole == 0)
        return PPM;
    return (uint32_t)(((u128)part * PPM + whole - 1) / whole);
}

uint64_t bound_units_of(uint32_t share_ppm, uint64_t units)
{
    u128 v = ((u128)share_ppm * units + PPM - 1) / PPM;

    assert(share_ppm <= PPM);
    return v == 0 && units > 0 ? 1 : (uint64_t)v;
}

uint64_t bound_strata(struct stratum_count *strata, size_t n,
                      uint32_t confidence_ppm)
{
    uint64_t open = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        open += strata[i].drawn != 0 && strata[i].drawn != strata[i].units;
    for (size_t i = 0; i < n; i++) {
        struct stratum_count *s = &strata[i];

        s->bound = bound_bad_units(s->units, s->drawn, s->failed,
                                   risk_of(confidence_ppm, open + !open));
        sum += s->bound;
    }
    return sum;
}
