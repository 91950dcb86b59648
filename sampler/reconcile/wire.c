/*
 * wire.c - one exchange against the sums of its plans.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char wire_columns[] =
    "x.seq,x.unit,x.req_first_ns,x.resp_last_ns,x.status,x.api,x.api_id,"
    "x.tokens_in,x.tokens_out,x.tokens_from,x.complete,x.choices,"
    "(SELECT count(*) FROM exchange y WHERE y.api_id=x.api_id AND"
    " x.api_id<>'' AND y.seq<x.seq),"
    "(SELECT count(*) FROM exchange y WHERE y.api_id=x.api_id AND"
    " x.api_id<>'')";

static char *column_text(sqlite3_stmt *s, int i)
{
    const unsigned char *text = sqlite3_column_text(s, i);

    return strdup(text == NULL ? "" : (const char *)text);
}

int wire_read(sqlite3_stmt *s, struct wire *ret_w)
{
    const void *unit = sqlite3_column_blob(s, 1);
    const unsigned char *from = sqlite3_column_text(s, 9);
    struct wire w = {
        .seq = (uint64_t)sqlite3_column_int64(s, 0),
        .from_ns = sqlite3_column_int64(s, 2),
        .to_ns = sqlite3_column_int64(s, 3),
        .status = (uint64_t)sqlite3_column_int64(s, 4),
        .api = column_text(s, 5),
        .id = column_text(s, 6),
        .tokens_in = (uint64_t)sqlite3_column_int64(s, 7),
        .tokens_out = (uint64_t)sqlite3_column_int64(s, 8),
        .complete = sqlite3_column_int64(s, 10) != 0,
        .choices = (uint64_t)sqlite3_column_int64(s, 11),
        .rank = (uint64_t)sqlite3_column_int64(s, 12),
        .same = (uint64_t)sqlite3_column_int64(s, 13),
    };

    if (w.api == NULL || w.id == NULL) {
        wire_free(&w);
        return -ENOMEM;
    }
    if (w.choices == 0)
        w.choices = 1;
    if (unit != NULL && sqlite3_column_bytes(s, 1) == (int)sizeof w.unit)
        memcpy(w.unit, unit, sizeof w.unit);
    w.exact = w.complete && from != NULL &&
              (strcmp((const char *)from, "usage") == 0 ||
               strcmp((const char *)from, "tokens") == 0);
    *ret_w = w;
    return 0;
}

void wire_free(struct wire *w)
{
    free(w->api);
    free(w->id);
    memset(w, 0, sizeof *w);
}

bool wire_was_answered(const struct wire *w)
{
    return w->status >= 200 && w->status < 300 &&
           (w->id[0] != '\0' || w->tokens_out != 0);
}

/* A refused request (4xx) never reached the engine. */
bool wire_lacks_id(const struct wire *w)
{
    if (strcmp(w->api, "anthropic.messages") == 0 &&
        strncmp(w->id, "msg_", 4) == 0)
        return true;
    return w->id[0] == '\0' &&
           (wire_was_answered(w) || !w->complete || w->status >= 500);
}

int sums_add(struct sums *s, const struct strand_sum *sum)
{
    struct strand_sum *p = reallocarray(s->p, s->n + 1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    s->p = p;
    p[s->n++] = *sum;
    return 0;
}

static bool same_prompt(const struct strand_sum *a, const struct strand_sum *b)
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
static bool is_prompt_only(const struct strand_sum *sum)
{
    return sum->least == 0 && sum->most == 1;
}

/* Some m answers a prompt make the prompts as many tokens as the wire says. */
static bool prompts_fit(const struct wire *w, const struct sums *s,
                        uint64_t total)
{
    if (w->tokens_in == 0)
        return true;
    for (size_t m = 1; m <= s->n; m++)
        if (total == m * w->tokens_in && in_groups_of(s, m))
            return true;
    return false;
}

struct flaw wire_compare(const struct wire *w, const struct sums *s)
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
    if (!prompts_fit(w, s, prompt))
        return (struct flaw){"size_diff", "prompt tokens", w->tokens_in, prompt,
                             0};
    if (w->tokens_out > most || (w->exact && w->tokens_out < least))
        return (struct flaw){"size_diff", "sampled tokens", w->tokens_out, most,
                             0};
    return none;
}

bool wire_lacks_choices(const struct wire *w, const struct sums *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += !s->p[i].warming;
    return n < w->choices;
}

static bool tokens_fit(const struct wire *w, const struct strand_sum *sum)
{
    return w->tokens_out <= sum->most &&
           (!w->exact || w->tokens_out >= sum->least);
}

int wire_likeness(const struct wire *w, const struct strand_sum *sum, size_t n)
{
    return 1 + 8 * (n == w->choices) + 4 * (w->tokens_in == sum->prompt_n) +
           2 * tokens_fit(w, sum) + (w->tokens_out == sum->most);
}

bool wire_fits(const struct wire *w, const struct strand_sum *sum, size_t n)
{
    return n == w->choices && tokens_fit(w, sum) &&
           (w->tokens_in == 0 || w->tokens_in == sum->prompt_n);
}

int wire_choice_likeness(const struct wire *w, const struct sums *s,
                         const struct strand_sum *sum)
{
    bool alike = false, fits;
    uint64_t most = sum->most;

    if (!wire_lacks_choices(w, s))
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        alike = alike || same_prompt(&s->p[i], sum);
        most += s->p[i].most;
    }
    fits = w->exact && most <= w->tokens_out;
    return 1 + 8 * !is_prompt_only(sum) + 4 * sum->announced + 2 * fits + alike;
}

bool wire_is_warming(const struct wire *w, const struct sums *s,
                     const struct strand_sum *sum)
{
    uint64_t prompt = 0;
    size_t alike = 0;

    if (wire_lacks_choices(w, s) || !sum->announced || !is_prompt_only(sum))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (same_prompt(&s->p[i], sum) && s->p[i].warming)
            return false;
        alike += same_prompt(&s->p[i], sum);
        prompt += s->p[i].warming ? 0 : s->p[i].prompt_n;
    }
    return w->tokens_in == 0 ? alike > 1 : alike > 0 && prompt > w->tokens_in;
}
