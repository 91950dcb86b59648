/*
 * world.c - a small log in memory: leaves, signed heads, and the life of its
 * epochs, as the sampler, the store and compare would write it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/export.h"
#include "sampler/chain.h"
#include "store/sha256.h"
#include "world_epoch.h"

static const char *const lie_names[] = {
#define X(name) #name,
    WORLD_LIES(X)
#undef X
};

const char *lie_name(enum lie lie)
{
    return lie_names[lie];
}

enum lie lie_find(const char *name)
{
    enum lie lie = 0;

    while (lie < LIES && strcmp(lie_names[lie], name) != 0)
        lie++;
    return lie;
}

bool world_lies(const struct world *w, enum lie lie)
{
    return w->liar && w->lie == lie;
}

uint64_t world_add(struct world *w, const char *kind, const struct record *r)
{
    struct world_leaf *l;

    assert(!r->full);
    w->leaves = realloc(w->leaves, (w->n + 1) * sizeof *w->leaves);
    assert(w->leaves != NULL);
    l = &w->leaves[w->n];
    w->now_ns += 1000000;
    l->text = malloc(r->n + 256);
    assert(l->text != NULL);
    l->n = (size_t)sprintf(
        l->text, "assay-rec/v1\ntype %s\nseq %zu\ntime_ns %" PRIu64 "\n", kind,
        w->n, w->now_ns);
    memcpy(l->text + l->n, r->text, r->n);
    l->n += r->n;
    return w->n++;
}

void world_unit(const struct world *w, uint64_t seq, uint8_t unit[32])
{
    merkle_leaf(span_of(w->leaves[seq].text, w->leaves[seq].n), unit);
}

void world_head(const struct world *w, struct merkle_head *ret_head)
{
    struct merkle_range range;
    uint8_t leaf[32];

    merkle_range_init(&range);
    for (size_t i = 0; i < w->n; i++) {
        world_unit(w, i, leaf);
        merkle_range_append(&range, leaf);
    }
    ret_head->size = w->n;
    merkle_range_root(&range, ret_head->root);
}

void world_sign(struct world *w)
{
    struct checkpoint c = {.origin = WORLD_ORIGIN};
    char text[1024], note[2048];
    struct world_note *n;

    world_head(w, &c.head);
    if (world_lies(w, LIE_CHECKPOINT_FORKED) && w->epoch.seed.epoch == 0)
        c.head.root[0] ^= 1;
    assert(checkpoint_print(&c, text, sizeof text) == 0);
    assert(note_sign(w->signer, span_str(text), note, sizeof note) == 0);
    w->notes = realloc(w->notes, (w->n_notes + 1) * sizeof *w->notes);
    assert(w->notes != NULL);
    n = &w->notes[w->n_notes++];
    n->size = w->n;
    n->text = strdup(note);
    assert(n->text != NULL);
}

static void birth(struct world *w)
{
    struct record r;
    uint8_t vrf[VRF_PUBLIC];

    assert(vrf_public(w->vrf_secret, vrf) == 0);
    record_init(&r);
    record_text(
        &r, "origin",
        span_str(w->lie == LIE_GENESIS_OTHER_ORIGIN ? "else" : WORLD_ORIGIN));
    record_text(&r, "log_vkey",
                span_str(w->lie == LIE_GENESIS_OTHER_KEY ? "other+00000000+AA"
                                                         : w->vkey));
    record_hex(&r, "vrf_key", span_of(vrf, sizeof vrf));
    record_text(&r, "version", span_str("0.1.0"));
    w->last_close_ns = w->now_ns + 1000000; /* the genesis' own time */
    world_add(w, "genesis", &r);
}

void world_enrol(struct world *w, const uint8_t head[32], uint64_t epoch)
{
    struct record r;

    record_init(&r);
    record_text(&r, "party", span_str("auditor"));
    record_hex(&r, "head", span_of(head, 32));
    record_u64(&r, "epoch", epoch);
    world_add(w, "chain", &r);
}

void world_policy(struct world *w, const char *text, bool in_force)
{
    struct policy_error why;
    struct policy p;
    struct record r;

    assert(policy_parse(span_str(text), &p, &why) == PARSE_OK);
    if (in_force)
        w->policy = p;
    if (w->lie == LIE_POLICY_HASH && !in_force)
        p.sha256[0] ^= 1;
    record_init(&r);
    record_hex(&r, "sha256", span_of(p.sha256, 32));
    record_text(&r, "text", span_str(text));
    world_add(w, "policy", &r);
}

static void keys(struct world *w)
{
    uint8_t seed[32] = {1};

    assert(note_signer_open(WORLD_ORIGIN, seed, &w->signer) == 0);
    note_key_print(note_signer_key(w->signer), w->vkey);
    sha256(span_str("vrf"), w->vrf_secret);
    sha256(span_str("chain"), w->chain[0]);
    for (int i = 1; i <= WORLD_PARTY_LENGTH; i++)
        chain_step(w->chain[i - 1], w->chain[i]);
}

void world_make(struct world *w, enum lie lie)
{
    world_make_sized(w, lie, WORLD_EXCHANGES);
}

void world_make_sized(struct world *w, enum lie lie, unsigned exchanges)
{
    memset(w, 0, sizeof *w);
    w->exchanges = exchanges;
    w->lie = lie;
    w->now_ns = UINT64_C(1764417600000000000);
    keys(w);
    birth(w);
    world_enrol(w, w->chain[WORLD_PARTY_LENGTH], 1);
    world_policy(w, WORLD_POLICY, true);
    for (uint64_t e = 1; e <= WORLD_EPOCHS; e++)
        world_epoch(w, e);
    world_sign(w);
}

void world_fini(struct world *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->leaves[i].text);
    for (size_t i = 0; i < w->n_notes; i++)
        free(w->notes[i].text);
    free(w->leaves);
    free(w->notes);
    note_signer_close(w->signer);
    memset(w, 0, sizeof *w);
}

static int read_leaf(void *context, uint64_t seq, struct span *ret_leaf)
{
    const struct world *w = context;

    *ret_leaf = span_of(w->leaves[seq].text, w->leaves[seq].n);
    return 0;
}

void world_source(struct world *w, struct export_note *notes,
                  struct export_source *ret_s)
{
    for (size_t i = 0; i < w->n_notes; i++)
        notes[i] =
            (struct export_note){w->notes[i].size, span_str(w->notes[i].text)};
    *ret_s = (struct export_source){w->n, read_leaf, w, notes, w->n_notes};
}
