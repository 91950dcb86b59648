/*
 * plan_assign.c - a matching of claims and turns: augmenting paths over pairs
 * that do not differ, and for the rest the fewest differences.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_assign.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { GRADES = 3 };

struct matching {
    const struct assign_pair *pairs; /* in claim order */
    size_t n_pairs, n_turns;
    size_t *first; /* pair of each claim; one more ends the last */
    size_t *claim; /* of each turn, or SIZE_MAX */
    size_t *turn;  /* of each claim, or SIZE_MAX */
    bool *seen;    /* turns of this path */
    size_t *path;  /* claims whose pairs are being gone through */
    size_t *at;    /* and at which of their pairs */
};

static int compare(const void *a, const void *b)
{
    const struct assign_pair *p = a, *q = b;

    if (p->claim != q->claim)
        return p->claim < q->claim ? -1 : 1;
    if (p->differing != q->differing)
        return p->differing < q->differing ? -1 : 1;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return p->turn < q->turn ? -1 : p->turn > q->turn;
}

static void join(struct matching *m, size_t claim, size_t turn)
{
    m->turn[claim] = turn;
    m->claim[turn] = claim;
}

/* The claim's best pair whose turn is free. */
static const struct assign_pair *best_free(const struct matching *m,
                                           size_t claim)
{
    for (size_t i = m->first[claim]; i < m->first[claim + 1]; i++)
        if (m->claim[m->pairs[i].turn] == SIZE_MAX)
            return &m->pairs[i];
    return NULL;
}

static bool take_equal(struct matching *m, size_t claim)
{
    const struct assign_pair *p = best_free(m, claim);

    if (!p || p->differing > 0)
        return false;
    join(m, claim, p->turn);
    return true;
}

/* Each claim of the path takes the turn that the next one leaves. */
static void shift_path(struct matching *m, size_t depth)
{
    for (size_t i = 0; i <= depth; i++)
        join(m, m->path[i], m->pairs[m->at[i]].turn);
}

/* Others move on so that this one finds a turn: depth first, every turn seen
 * once. */
static bool displace(struct matching *m, size_t claim)
{
    size_t depth = 0;

    for (size_t i = 0; i < m->n_turns; i++)
        m->seen[i] = false;
    m->path[0] = claim;
    m->at[0] = m->first[claim];
    for (;;) {
        size_t i = m->at[depth];
        bool over =
            i == m->first[m->path[depth] + 1] || m->pairs[i].differing > 0;
        if (over && depth == 0)
            return false;
        if (over || m->seen[m->pairs[i].turn]) {
            m->at[over ? --depth : depth]++;
            continue;
        }
        size_t holder = m->claim[m->pairs[i].turn];
        m->seen[m->pairs[i].turn] = true;
        if (holder == SIZE_MAX) {
            shift_path(m, depth);
            return true;
        }
        m->path[++depth] = holder;
        m->at[depth] = m->first[holder];
    }
}

/* What differs everywhere takes the free turn where it differs least. */
static void take_rest(struct matching *m, const unsigned *grade, unsigned g,
                      size_t n_claims)
{
    for (;;) {
        const struct assign_pair *best = NULL;
        for (size_t i = 0; i < n_claims; i++) {
            const struct assign_pair *p = NULL;
            if (grade[i] == g && m->turn[i] == SIZE_MAX)
                p = best_free(m, i);
            if (p && (!best || p->differing < best->differing))
                best = p;
        }
        if (!best)
            return;
        join(m, best->claim, best->turn);
    }
}

static int matching_init(struct matching *m, struct assign_pair *pairs,
                         size_t n_pairs, size_t n_claims)
{
    qsort(pairs, n_pairs, sizeof(*pairs), compare);
    *m = (struct matching){.pairs = pairs, .n_pairs = n_pairs};
    for (size_t i = 0; i < n_pairs; i++)
        if (pairs[i].turn >= m->n_turns)
            m->n_turns = pairs[i].turn + 1;
    m->first = calloc(n_claims + 1, sizeof(*m->first));
    m->claim = calloc(m->n_turns + 1, sizeof(*m->claim));
    m->seen = calloc(m->n_turns + 1, sizeof(*m->seen));
    m->path = calloc(n_claims + 1, sizeof(*m->path));
    m->at = calloc(n_claims + 1, sizeof(*m->at));
    if (!m->first || !m->claim || !m->seen || !m->path || !m->at)
        return -ENOMEM;
    for (size_t i = 0; i < m->n_turns; i++)
        m->claim[i] = SIZE_MAX;
    for (size_t i = 0, claim = 0; claim <= n_claims; claim++) {
        m->first[claim] = i;
        while (i < n_pairs && pairs[i].claim == claim)
            i++;
    }
    return 0;
}

static void matching_fini(struct matching *m)
{
    free(m->first);
    free(m->claim);
    free(m->seen);
    free(m->path);
    free(m->at);
}

int plan_assign(struct assign_pair *pairs, size_t n_pairs,
                const unsigned *grade, size_t n_claims, size_t *ret_turns)
{
    struct matching m;

    int err = matching_init(&m, pairs, n_pairs, n_claims);
    if (err) {
        matching_fini(&m);
        return err;
    }
    m.turn = ret_turns;
    for (size_t i = 0; i < n_claims; i++)
        ret_turns[i] = SIZE_MAX;
    for (unsigned g = 0; g < GRADES; g++) {
        for (size_t i = 0; i < n_claims; i++)
            if (grade[i] == g && !take_equal(&m, i))
                (void)displace(&m, i);
        take_rest(&m, grade, g, n_claims);
    }
    matching_fini(&m);
    return 0;
}
