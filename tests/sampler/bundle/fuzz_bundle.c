/*
 * fuzz_bundle.c - any bytes as the leaves of a log, signed as they stand by a
 * key that is trusted: exported and verified. Neither may crash, and an export
 * that verifies twice says the same twice.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/export.h"
#include "fuzz.h"
#include "store/note.h"
#include "verify/verify.h"

enum { LEAVES_MAX = 2000, NOTES_MAX = 16, NOTE_BYTES = 2048 };

struct log {
    struct leafset set;
    struct note_signer *signer;
    char vkey[NOTE_VKEY];
    char text[NOTES_MAX][NOTE_BYTES];
    struct export_note notes[NOTES_MAX];
    size_t n_notes;
};

static int read_leaf(void *context, uint64_t seq, struct span *ret_leaf)
{
    struct log *l = context;

    *ret_leaf = l->set.leaves[seq].bytes;
    return 0;
}

static void sign(struct log *l, const char *origin,
                 const struct merkle_range *range)
{
    struct checkpoint c;
    char text[1024], *note = l->text[l->n_notes];

    (void)snprintf(c.origin, sizeof c.origin, "%s", origin);
    c.head.size = range->size;
    merkle_range_root(range, c.head.root);
    assert(checkpoint_print(&c, text, sizeof text) == 0);
    assert(note_sign(l->signer, span_str(text), note, NOTE_BYTES) == 0);
    l->notes[l->n_notes++] = (struct export_note){c.head.size, span_str(note)};
}

/* A head behind every close and certificate, and the last one. */
static void sign_all(struct log *l, const char *origin)
{
    struct merkle_range range;

    merkle_range_init(&range);
    for (size_t i = 0; i < l->set.n; i++) {
        const struct bundle_leaf *leaf = &l->set.leaves[i];
        uint8_t hash[MERKLE_HASH];
        bool last = i + 1 == l->set.n;

        merkle_leaf(leaf->bytes, hash);
        merkle_range_append(&range, hash);
        if (last ||
            (l->n_notes + 1 < NOTES_MAX &&
             (leaf_is(leaf, "frame_close") || leaf_is(leaf, "certificate"))))
            sign(l, origin, &range);
    }
}

static void try_epoch(struct log *l, uint64_t epoch)
{
    const struct export_source s = {l->set.n, read_leaf, l, l->notes,
                                    l->n_notes};
    const struct verify_options o = {l->vkey, {NULL, 0}};
    struct report *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    struct bundle bundle;

    assert(a != NULL && b != NULL);
    if (export_epoch(&s, epoch, &bundle) == 0) {
        verify_bundle(&bundle, &o, a);
        verify_bundle(&bundle, &o, b);
        assert(memcmp(a, b, sizeof *a) == 0);
        bundle_fini(&bundle);
    }
    free(a);
    free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char origin[] = "certifier.example/unit-0001";
    const uint8_t seed[32] = {1};
    struct log *l = calloc(1, sizeof *l);
    const char *why;
    size_t at;

    assert(l != NULL);
    if (leafset_parse(span_of(data, size), &l->set, &at, &why) == PARSE_OK &&
        l->set.n > 0 && l->set.n <= LEAVES_MAX &&
        l->set.leaves[l->set.n - 1].seq == l->set.n - 1) {
        assert(note_signer_open(origin, seed, &l->signer) == 0);
        note_key_print(note_signer_key(l->signer), l->vkey);
        sign_all(l, origin);
        try_epoch(l, 1);
        try_epoch(l, 2);
        note_signer_close(l->signer);
    }
    leafset_fini(&l->set);
    free(l);
    return 0;
}
