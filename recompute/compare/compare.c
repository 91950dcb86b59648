/*
 * compare.c - one claimed answer against what was recomputed: compare.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/compare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compare/candidates.h"
#include "compare/choice.h"
#include "compare/envelope.h"
#include "compare/logprob.h"
#include "compare/reason.h"
#include "compare/unlisted.h"

/* All choices in the order of their index; those that one side lacks too. */
static void compare_choices(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;
    const struct result *r = s->result;
    size_t i = 0, k = 0;

    while (i < a->n_choices || k < r->n_choices) {
        uint32_t claimed = i < a->n_choices ? a->choices[i].index : UINT32_MAX;
        uint32_t other = k < r->n_choices ? r->choices[k].index : UINT32_MAX;
        uint32_t index = claimed < other ? claimed : other;

        compare_choice(s, compare_claimed(s, index),
                       compare_recomputed(r, index));
        i += i < a->n_choices && claimed == index;
        k += k < r->n_choices && other == index;
    }
}

static int count_runs(struct comparison *c, const struct result *runs, size_t n)
{
    uint8_t first[32], digest[32];
    int err = result_digest(&runs[0], first);

    c->evidence.runs = n;
    for (size_t i = 1; err == 0 && i < n; i++) {
        err = result_digest(&runs[i], digest);
        if (memcmp(first, digest, sizeof first) != 0)
            c->evidence.runs_differ++;
    }
    return err;
}

/* The answer may be one that the result does not list. */
static const char *ambiguity(const struct compare_state *s)
{
    bool differs = verdict_of(&s->c->evidence).verdict == VERDICT_MISMATCH;

    return differs && s->result->more ? "ambiguous" : NULL;
}

static int compare_parsed(struct compare_state *s, const struct result *runs,
                          size_t n)
{
    struct comparison *c = s->c;
    struct api_exchange spread;
    struct result picked;
    int err = 0;

    for (size_t i = 0; i < n && c->evidence.reason == NULL; i++)
        c->evidence.reason = compare_result_reason(s->claim, &runs[i]);
    if (c->evidence.reason == NULL) {
        err = count_runs(c, runs, n);
        if (err == 0 && !compare_make_rows(s))
            err = -ENOMEM;
        s->decimals = compare_decimals(&s->x->answer);
        if (err == 0 && !compare_pick(s, &picked))
            err = -ENOMEM;
        if (err == 0) {
            compare_spread_all(s, &spread);
            compare_choices(s);
            c->evidence.reason = ambiguity(s);
            compare_envelope(s);
        }
    }
    c->judgement = verdict_of(&c->evidence);
    if (c->evidence.reason == NULL && span_eq_str(s->result->level, "search"))
        compare_search_bits(s);
    compare_cut_rows(s);
    if (err == 0 && c->judgement.at.position != NO_POSITION)
        compare_tops(s);
    return c->arena.failed ? -ENOMEM : err;
}

int compare(const struct claim *c, const struct result *runs, size_t n,
            struct comparison *ret_c)
{
    struct api_exchange x = {0};
    struct compare_state s = {ret_c, &x, c, &runs[0], -1, 0, 0};
    enum parse parsed;
    char api[64];
    int err;

    *ret_c = (struct comparison){0};
    (void)snprintf(api, sizeof api, "%.*s", (int)c->api.n,
                   (const char *)c->api.p); /* a longer name is unknown */
    parsed = dialect_parse(api, c->request, c->response, c->streamed, &x);
    ret_c->evidence.reason = compare_reason(c, parsed, &x);
    err = compare_parsed(&s, runs, n);
    compare_keep_rows(&s);
    if (err == 0 && ret_c->arena.failed)
        err = -ENOMEM;
    dialect_free(&x);
    if (err != 0)
        compare_fini(ret_c);
    return err;
}
