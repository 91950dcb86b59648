/*
 * review.c - from review records to the state of a case, and the rules for
 * the next event: review.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/review.h"

#include <stdio.h>
#include <string.h>

const char *const review_dispositions[] = {
    "",
    "choose",
    "provider_deviation",
    "provider deviation (a second person must confirm)",
    "profile_mismatch",
    "profile mismatch: declared weights, engine or flags are not the ones used",
    "recompute_unstable",
    "recompute unstable",
    "capture_fault",
    "capture fault",
    "metadata_missing",
    "metadata missing",
    "certifier_bug",
    "certifier bug (a second person must confirm)",
    "duplicate",
    "duplicate of another case",
    "inconclusive",
    "inconclusive",
    NULL,
};

const char *review_phase_words(enum review_phase phase)
{
    static const char *const words[] = {"open", "in review", "decided",
                                        "confirmed"};

    return words[phase];
}

static void keep(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text);
}

static void apply(struct review_state *s, const char *action, const char *actor,
                  const char *disposition)
{
    if (strcmp(action, "take") == 0)
        s->phase = REVIEW_TAKEN;
    else if (strcmp(action, "release") == 0 || strcmp(action, "reopen") == 0)
        s->phase = REVIEW_OPEN;
    else if (strcmp(action, "decide") == 0)
        s->phase = REVIEW_DECIDED;
    else if (strcmp(action, "confirm") == 0)
        s->phase = REVIEW_CONFIRMED;
    else
        return; /* a note changes nothing */
    keep(s->actor, sizeof s->actor, actor);
    if (s->phase == REVIEW_DECIDED) {
        keep(s->disposition, sizeof s->disposition, disposition);
        s->decisions++;
    }
}

static void set_base(struct review_state *s, struct span unit)
{
    if (unit.n == sizeof s->base)
        memcpy(s->base, unit.p, sizeof s->base);
}

/* The newest verdict; returns its place in the log, 0 if there is none. */
static uint64_t load_verdict(struct db *db, struct span unit,
                             struct review_state *s)
{
    struct query q =
        db_query(db, "SELECT seq, unit, verdict FROM verdict WHERE object = ? "
                     "ORDER BY seq DESC LIMIT 1");
    uint64_t seq = 0;

    query_bind_bytes(&q, 1, unit);
    if (query_next(&q)) {
        seq = query_u64(&q, 0);
        set_base(s, query_span(&q, 1));
        keep(s->verdict, sizeof s->verdict, query_text(&q, 2));
        s->judged = true;
    }
    query_close(&q);
    return seq;
}

void review_load(struct db *db, struct span unit, struct review_state *ret_s)
{
    struct review_state s = {.phase = REVIEW_OPEN};
    uint64_t since;
    struct query q;

    set_base(&s, unit);
    since = load_verdict(db, unit, &s);
    q = db_query(db, "SELECT seq, unit, action, actor, disposition FROM "
                     "review WHERE object = ? ORDER BY seq");
    query_bind_bytes(&q, 1, unit);
    while (query_next(&q)) {
        apply(&s, query_text(&q, 2), query_text(&q, 3), query_text(&q, 4));
        if (query_u64(&q, 0) > since) {
            set_base(&s, query_span(&q, 1));
            continue;
        }
        s.phase = REVIEW_OPEN; /* decided on older evidence */
        s.actor[0] = s.disposition[0] = '\0';
    }
    query_close(&q);
    *ret_s = s;
}

static bool known_disposition(const char *word)
{
    for (size_t i = 2; review_dispositions[i] != NULL; i += 2)
        if (strcmp(review_dispositions[i], word) == 0)
            return true;
    return false;
}

static const char *refuse_decision(const struct review_state *s,
                                   const struct review_event *e)
{
    if (!known_disposition(e->disposition))
        return "A decision needs a disposition.";
    if (*e->note == '\0')
        return "A decision needs a reason.";
    if (s->phase == REVIEW_DECIDED || s->phase == REVIEW_CONFIRMED)
        return "This case is decided; reopen it first.";
    if (strcmp(e->disposition, "provider_deviation") == 0 &&
        strcmp(s->verdict, "MISMATCH") != 0)
        return "Only a MISMATCH can be put down to the provider: the repeats "
               "of this one differ, or it could not be checked.";
    return NULL;
}

static const char *refuse_confirmation(const struct review_state *s,
                                       const struct review_event *e)
{
    if (s->phase != REVIEW_DECIDED)
        return "Only a decided case can be confirmed.";
    if (strcmp(s->actor, e->actor) == 0)
        return "A second person must confirm: you decided this one.";
    return NULL;
}

const char *review_refusal(const struct review_state *s,
                           const struct review_event *e)
{
    if (strcmp(e->action, "note") == 0)
        return *e->note == '\0' ? "A note needs words." : NULL;
    if (!s->judged)
        return "There is no verdict to review yet.";
    if (strcmp(e->action, "decide") == 0)
        return refuse_decision(s, e);
    if (strcmp(e->action, "confirm") == 0)
        return refuse_confirmation(s, e);
    if (strcmp(e->action, "take") == 0)
        return s->phase == REVIEW_OPEN ? NULL
                                       : "Somebody has this case already.";
    if (strcmp(e->action, "release") == 0)
        return s->phase == REVIEW_TAKEN ? NULL : "Nobody holds this case.";
    if (strcmp(e->action, "reopen") == 0)
        return s->phase >= REVIEW_DECIDED ? NULL : "This case is open.";
    return "There is no such action.";
}
