/*
 * observed.c - one exchange against the sums of its sequences.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/observed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"

int observed_read(const struct query *q, struct observed *ret_o)
{
    struct span unit = query_span(q, 1), from = query_span(q, 9);
    struct observed o = {.seq = query_u64(q, 0),
                         .from_ns = (int64_t)query_u64(q, 2),
                         .to_ns = (int64_t)query_u64(q, 3),
                         .status = query_u64(q, 4),
                         .tokens_in = query_u64(q, 7),
                         .tokens_out = query_u64(q, 8),
                         .complete = query_u64(q, 10) != 0,
                         .choices = query_u64(q, 11),
                         .rank = query_u64(q, 12),
                         .same = query_u64(q, 13)};

    if (o.choices == 0)
        o.choices = 1;
    if (unit.n == sizeof o.unit)
        memcpy(o.unit, unit.p, unit.n);
    o.exact = o.complete &&
              (span_eq_str(from, "usage") || span_eq_str(from, "tokens"));
    o.api = strdup(query_text(q, 5));
    o.id = strdup(query_text(q, 6));
    if (o.api == NULL || o.id == NULL) {
        observed_free(&o);
        return -ENOMEM;
    }
    *ret_o = o;
    return 0;
}

void observed_free(struct observed *o)
{
    free(o->api);
    free(o->id);
    memset(o, 0, sizeof *o);
}

bool observed_was_answered(const struct observed *o)
{
    return o->status >= 200 && o->status < 300 &&
           (o->id[0] != '\0' || o->tokens_out != 0);
}

/* A refused request (4xx) never reached the engine. */
bool observed_lacks_id(const struct observed *o)
{
    if (strcmp(o->api, "anthropic.messages") == 0 &&
        strncmp(o->id, "msg_", 4) == 0)
        return true;
    return o->id[0] == '\0' &&
           (observed_was_answered(o) || !o->complete || o->status >= 500);
}

int sums_add(struct sums *s, const struct sequence_sum *sum)
{
    struct sequence_sum *p = array_grow(s->p, &s->size, s->n, 1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    s->p = p;
    p[s->n++] = *sum;
    return 0;
}

void sums_fini(struct sums *s)
{
    free(s->p);
    memset(s, 0, sizeof *s);
}

static bool same_prompt(const struct sequence_sum *a,
                        const struct sequence_sum *b)
{
    return a->prompt_n == b->prompt_n &&
           memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

/* Every prompt stands a multiple of m times. */
static bool in_groups_of(const struct sums *s, size_t m)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t alike = 0;

        for (size_t k = 0; k < s->n; k++)
            alike += !s->p[k].warming && same_prompt(&s->p[i], &s->p[k]);
        if (!s->p[i].warming && alike % m != 0)
            return false;
    }
    return true;
}

/* Nothing was computed past the prompt. */
static bool is_prompt_only(const struct sequence_sum *sum)
{
    return sum->least == 0 && sum->most == 1;
}

/* Some m answers a prompt make the prompts as many tokens as the wire says. */
static bool prompts_fit(const struct observed *o, const struct sums *s,
                        uint64_t total)
{
    if (o->tokens_in == 0)
        return true;
    for (size_t m = 1; m <= s->n; m++)
        if (total == m * o->tokens_in && in_groups_of(s, m))
            return true;
    return false;
}

struct flaw observed_compare(const struct observed *o, const struct sums *s)
{
    struct flaw none = {NULL, NULL, 0, 0, 0};
    uint64_t least = 0, most = 0, prompt = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->p[i].flaw.class != NULL)
            return s->p[i].flaw;
        least += s->p[i].least;
        most += s->p[i].most;
        prompt += s->p[i].warming ? 0 : s->p[i].prompt_n;
    }
    if (!prompts_fit(o, s, prompt))
        return (struct flaw){"size_diff", "prompt tokens", o->tokens_in, prompt,
                             0};
    if (o->tokens_out > most || (o->exact && o->tokens_out < least))
        return (struct flaw){"size_diff", "sampled tokens", o->tokens_out, most,
                             0};
    return none;
}

bool observed_lacks_choices(const struct observed *o, const struct sums *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += !s->p[i].warming;
    return n < o->choices;
}

static bool tokens_fit(const struct observed *o, const struct sequence_sum *sum)
{
    return o->tokens_out <= sum->most &&
           (!o->exact || o->tokens_out >= sum->least);
}

int observed_likeness(const struct observed *o, const struct sequence_sum *sum,
                      size_t n)
{
    return 1 + 8 * (n == o->choices) + 4 * (o->tokens_in == sum->prompt_n) +
           2 * tokens_fit(o, sum) + (o->tokens_out == sum->most);
}

bool observed_fits(const struct observed *o, const struct sequence_sum *sum,
                   size_t n)
{
    return n == o->choices && tokens_fit(o, sum) &&
           (o->tokens_in == 0 || o->tokens_in == sum->prompt_n);
}

int observed_choice_likeness(const struct observed *o, const struct sums *s,
                             const struct sequence_sum *sum)
{
    bool alike = false, fits;
    uint64_t most = sum->most;

    if (!observed_lacks_choices(o, s))
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        alike = alike || same_prompt(&s->p[i], sum);
        most += s->p[i].most;
    }
    fits = o->exact && most <= o->tokens_out;
    return 1 + 8 * !is_prompt_only(sum) + 4 * sum->announced + 2 * fits + alike;
}

bool observed_is_warming(const struct observed *o, const struct sums *s,
                         const struct sequence_sum *sum)
{
    uint64_t prompt = 0;
    size_t alike = 0;

    if (observed_lacks_choices(o, s) || !sum->announced || !is_prompt_only(sum))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (same_prompt(&s->p[i], sum) && s->p[i].warming)
            return false;
        alike += same_prompt(&s->p[i], sum);
        prompt += s->p[i].warming ? 0 : s->p[i].prompt_n;
    }
    return o->tokens_in == 0 ? alike > 1 : alike > 0 && prompt > o->tokens_in;
}
