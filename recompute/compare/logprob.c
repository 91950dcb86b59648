/*
 * logprob.c - two logprobs at the digits that the wire shows:
 * logprob.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/logprob.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/evidence.h"

enum { FLOAT_DIGITS = 9, SIGNIFICAND_BITS = 24 };

struct digits {
    int most;     /* significant digits of any value */
    int decimals; /* digits after the point of any value */
};

/* The fewest digits that read as this double again: those on the wire, but for
 * zeros at the end. */
static void count_digits(double v, struct digits *d)
{
    char text[40];
    int n = 0, decimals;
    const char *e;

    if (!isfinite(v) || v == 0)
        return;
    do
        (void)snprintf(text, sizeof text, "%.*e", n, v); /* fits */
    while (++n < 18 && strtod(text, NULL) != v);
    e = strchr(text, 'e');
    decimals = n - 1 - (e == NULL ? 0 : atoi(e + 1));
    d->most = n > d->most ? n : d->most;
    d->decimals = decimals > d->decimals ? decimals : d->decimals;
}

static void count_candidate(const struct api_candidate *c, struct digits *d)
{
    if (c->has_logprob && !c->has_prob)
        count_digits(c->logprob, d);
}

int compare_decimals(const struct api_answer *a)
{
    struct digits d = {0, 0};

    for (size_t i = 0; i < a->n_choices; i++)
        for (size_t t = 0; t < a->choices[i].n_tokens; t++) {
            const struct api_token *token = &a->choices[i].tokens[t];

            count_candidate(&token->chosen, &d);
            for (size_t k = 0; k < token->n_top; k++)
                count_candidate(&token->top[k], &d);
        }
    return d.most >= FLOAT_DIGITS ? -1 : d.decimals;
}

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Bits of the significand that so many decimals of this value can show. */
static uint64_t shown_bits(float v, int decimals)
{
    double units = fabs((double)v) * pow(10, decimals);
    int exponent;

    if (decimals < 0)
        return SIGNIFICAND_BITS;
    (void)frexp(units, &exponent); /* only the exponent is wanted */
    if (!isfinite(units) || exponent < 0)
        return 0;
    return exponent > SIGNIFICAND_BITS ? SIGNIFICAND_BITS : (uint64_t)exponent;
}

/* Whether the claimed decimal is one that the value rounds to; half a unit and
 * what double adds to it, so that a tie may go either way. */
static bool rounds_to(double claimed, float v, int decimals)
{
    double unit = pow(10, -decimals);

    return fabs(claimed - (double)v) <= unit * 0.5000001;
}

bool compare_logprob(struct compare_state *s, const struct api_candidate *c,
                     uint32_t bits)
{
    float v = float_of(bits);

    s->c->evidence.logprobs++;
    s->c->evidence_bits += shown_bits(v, s->decimals);
    if (c->bits == bits)
        return true;
    return s->decimals >= 0 && isfinite(c->logprob) && isfinite(v) &&
           rounds_to(c->logprob, v, s->decimals);
}

/* Of a choice's logprobs before the first difference. */
static double choice_evidence(const struct api_choice *c, struct place at,
                              uint64_t tried)
{
    size_t n = c->n_tokens;
    double bits = 0;

    if (at.position != NO_POSITION && c->index == at.choice && n > at.position)
        n = at.position;
    for (size_t i = 0; i < n; i++)
        bits += evidence_of(&c->tokens[i].chosen);
    return evidence_after(bits, tried);
}

void compare_search_bits(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;
    struct place at = s->c->judgement.at;
    double bits = 0;

    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];

        if (at.position != NO_POSITION && c->index > at.choice)
            break;
        bits += choice_evidence(c, at, s->result->forward_runs);
    }
    s->c->evidence_bits = (uint64_t)bits;
}
