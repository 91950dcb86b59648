/*
 * verify_epoch.c - whose log it is, and what the epoch was closed over.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle_text.h"
#include "store/record.h"
#include "store/sha256.h"
#include "verify/verify.h"

bool verify_genesis(struct verify *v)
{
    const struct bundle_leaf *g = v->d.genesis;
    char origin[NOTE_NAME], vkey[NOTE_VKEY], own[NOTE_VKEY];

    if (g == NULL || g->seq != 0)
        return report_fail(v->r, "leaf 0 is not the birth of the log");
    if (!leaf_text(g, "origin", origin, sizeof origin) ||
        strcmp(origin, v->head.origin) != 0)
        return report_fail(v->r, "leaf 0 is of another log than the"
                                 " checkpoint");
    note_key_print(&v->key, own);
    if (!leaf_text(g, "log_vkey", vkey, sizeof vkey) || strcmp(vkey, own) != 0)
        return report_fail(v->r, "leaf 0 names another key than signed");
    report_ok(v->r, "leaf 0 names this log and this key");
    return true;
}

/* Parts 1..parts of the draw, each once and in order. */
static bool draw_parts(struct verify *v)
{
    uint64_t parts, part;
    const struct bundle_leaf *l = v->d.draw;

    if (l == NULL)
        return true;
    if (!leaf_u64(l, "parts", &parts))
        return report_fail(v->r, "leaf %" PRIu64 ": no parts", l->seq);
    for (part = 1; part <= parts; part++) {
        l = dossier_draw_part(&v->d, (size_t)part - 1);
        if (l == NULL)
            return report_fail(v->r, "part %" PRIu64 " of the draw is missing",
                               part);
        if (!leaf_has(l, "part", part) || !leaf_has(l, "parts", parts))
            return report_fail(v->r,
                               "leaf %" PRIu64 ": not part %" PRIu64
                               " of %" PRIu64 " of the draw",
                               l->seq, part, parts);
    }
    l = dossier_draw_part(&v->d, (size_t)parts);
    if (l != NULL)
        return report_fail(v->r, "leaf %" PRIu64 ": the epoch was drawn before",
                           l->seq);
    return true;
}

/* The range goes on where the epoch before ended. */
static bool range(struct verify *v)
{
    uint64_t first, end, before = 0;

    if (!leaf_u64(v->d.close, "first", &first) ||
        !leaf_u64(v->d.close, "end", &end) || first > end ||
        end > v->d.close->seq)
        return report_fail(v->r, "leaf %" PRIu64 ": not a range before it",
                           v->d.close->seq);
    if (v->b->epoch == 0)
        return report_fail(v->r, "epochs are counted from 1");
    if (v->b->epoch > 1 && (v->d.previous_close == NULL ||
                            !leaf_u64(v->d.previous_close, "end", &before)))
        return report_fail(v->r, "the close of epoch %" PRIu64 " is missing",
                           v->b->epoch - 1);
    if (first != before)
        return report_fail(v->r,
                           "the epoch begins at leaf %" PRIu64
                           ", the one before ended at %" PRIu64,
                           first, before);
    return true;
}

bool verify_epoch(struct verify *v)
{
    const struct dossier_times *t = &v->d.times;

    if (t->close > 1)
        return report_fail(v->r, "the epoch was closed %zu times", t->close);
    if (t->seed > 1)
        return report_fail(v->r, "the epoch has %zu seeds", t->seed);
    if (t->certificate > 1)
        return report_fail(v->r, "the epoch has %zu certificates",
                           t->certificate);
    if (!range(v) || !draw_parts(v))
        return false;
    report_ok(v->r, "closed once, drawn at most once, next to the one before");
    return true;
}

bool verify_policy(struct verify *v)
{
    char text[POLICY_MAX + 1];
    uint8_t hash[32], told[32], committed[32];
    struct policy_error why;

    if (!dossier_policy_text(&v->d, text, sizeof text))
        return report_fail(v->r, "no policy stands before the close");
    sha256(span_str(text), hash);
    if (!leaf_hex(v->d.policy, "sha256", told, sizeof told) ||
        memcmp(hash, told, 32) != 0)
        return report_fail(
            v->r, "leaf %" PRIu64 ": its text has another hash than it says",
            v->d.policy->seq);
    if (!leaf_hex(v->d.close, "policy", committed, sizeof committed) ||
        memcmp(hash, committed, 32) != 0)
        return report_fail(v->r,
                           "the close commits to another policy than the one"
                           " in force (leaf %" PRIu64 ")",
                           v->d.policy->seq);
    if (policy_parse(span_str(text), &v->policy, &why) != PARSE_OK)
        return report_fail(v->r, "line %u of the policy: %s", why.line,
                           why.why);
    if (!verify_text(v, "policy.txt", span_str(text)))
        return false;
    report_ok(v->r, "leaf %" PRIu64 ", %zu strata", v->d.policy->seq,
              v->policy.n_strata);
    return true;
}

/* frame.bin, entry by entry. */
static bool frame_file(struct verify *v)
{
    const struct bundle_file *f = bundle_find_epoch(v->b, "frame.bin");
    uint8_t entry[FRAME_ENTRY];

    for (size_t i = 0; i < v->frame.n; i++) {
        frame_entry(&v->frame, i, entry);
        if (f->n < (i + 1) * FRAME_ENTRY ||
            memcmp(f->bytes + i * FRAME_ENTRY, entry, FRAME_ENTRY) != 0)
            return report_fail(v->r,
                               "frame.bin: entry %zu is not exchange %zu of"
                               " the epoch",
                               i, i);
    }
    if (f->n != v->frame.n * FRAME_ENTRY)
        return report_fail(v->r,
                           "frame.bin has more than the epoch's %zu"
                           " exchanges",
                           v->frame.n);
    return true;
}

bool verify_frame(struct verify *v)
{
    uint8_t told[32], root[32];
    int err = dossier_frame(&v->d, &v->policy, &v->frame, &v->close.counts);

    if (err != 0)
        return report_fail(v->r, "the frame cannot be made: %s",
                           err == -ENOMEM ? "out of memory"
                                          : "a record lacks a key");
    if (!frame_file(v))
        return false;
    frame_root(&v->frame, root);
    if (!leaf_hex(v->d.close, "frame_root", told, sizeof told) ||
        memcmp(told, root, 32) != 0)
        return report_fail(v->r,
                           "leaf %" PRIu64
                           ": the frame root is not that of the epoch's"
                           " exchanges",
                           v->d.close->seq);
    report_ok(v->r, "%zu exchanges, the root as it was closed", v->frame.n);
    return true;
}

/* A feed that no leaf knows cannot have been missing once steps are there. */
static bool no_feed(struct verify *v)
{
    uint64_t end;

    if (v->close.counts.no_feed == 0 || !leaf_u64(v->d.close, "end", &end))
        return true;
    for (size_t i = 0; i < v->set.n && v->set.leaves[i].seq < end; i++)
        if (leaf_is(&v->set.leaves[i], "batch_step"))
            return report_fail(v->r,
                               "the close says that there was no feed; leaf"
                               " %" PRIu64 " is of one",
                               v->set.leaves[i].seq);
    return true;
}

bool verify_close(struct verify *v)
{
    struct epoch_close *c = &v->close;
    const struct bundle_leaf *l = v->d.close;
    struct record *made;
    bool good;

    c->epoch = v->b->epoch;
    if (!leaf_text(l, "reason", c->reason, sizeof c->reason) ||
        !leaf_u64(l, "first", &c->first) || !leaf_u64(l, "end", &c->end) ||
        !leaf_u64(l, "no_feed", &c->counts.no_feed))
        return report_fail(v->r, "leaf %" PRIu64 ": a key is missing", l->seq);
    account_frame(c, &v->policy, &v->frame);
    made = malloc(sizeof *made);
    if (made == NULL || !account_write_close(c, made)) {
        free(made);
        return report_fail(v->r, "the record cannot be made");
    }
    good = verify_body(v, l, made) && no_feed(v);
    free(made);
    if (good)
        report_ok(v->r, "counts, strata and sample sizes recomputed");
    return good;
}
