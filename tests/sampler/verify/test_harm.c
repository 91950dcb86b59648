/*
 * test_harm.c - what is done to a bundle on its way by somebody without the
 * keys is refused, each for its own reason.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bundle_check.h"

static struct bundle_file *file(struct bundle *b, const char *name)
{
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->files[i].name, name) == 0)
            return &b->files[i];
    fail_msg("no file %s", name);
    return NULL;
}

static void take_away(struct bundle *b, const char *name)
{
    struct bundle_file *f = file(b, name);
    size_t i = (size_t)(f - b->files);

    free(f->bytes);
    memmove(f, f + 1, (b->n - i - 1) * sizeof *f);
    b->n--;
}

static void put(struct bundle *b, const char *name, struct span bytes)
{
    uint8_t *copy = malloc(bytes.n + 1);

    assert_non_null(copy);
    memcpy(copy, bytes.p, bytes.n);
    take_away(b, name);
    assert_int_equal(bundle_add(b, name, span_of(copy, bytes.n)), 0);
    free(copy);
}

/* The text of the leaf with this seq within log/leaves. */
static struct span leaf_in(struct bundle *b, uint64_t seq)
{
    struct leafset set;
    const char *why;
    struct span bytes;
    size_t at;

    assert_int_equal(
        leafset_parse(bundle_bytes(file(b, "log/leaves")), &set, &at, &why),
        PARSE_OK);
    at = leafset_from(&set, seq);
    assert_true(at < set.n && set.leaves[at].seq == seq);
    bytes = set.leaves[at].bytes;
    leafset_fini(&set);
    return bytes;
}

static uint64_t last_seq(struct bundle *b)
{
    return file(b, "log/hashes")->n / 32 - 1;
}

static void flip_leaf(struct bundle *b)
{
    struct span l = leaf_in(b, last_seq(b) - 30);

    ((uint8_t *)(uintptr_t)l.p)[l.n - 2] ^= 1;
}

static void remove_leaf(struct bundle *b)
{
    struct bundle_file *f = file(b, "log/leaves");
    struct span l = leaf_in(b, last_seq(b) - 30);
    size_t behind = (size_t)(f->bytes + f->n - (l.p + l.n));

    memmove((uint8_t *)(uintptr_t)l.p, l.p + l.n, behind);
    f->n -= l.n;
}

static void remove_last_leaf(struct bundle *b)
{
    file(b, "log/leaves")->n -= leaf_in(b, last_seq(b)).n;
}

static void double_leaf(struct bundle *b)
{
    struct span l = leaf_in(b, last_seq(b));
    struct bundle_file *f = file(b, "log/leaves");
    uint8_t *bytes = malloc(f->n + l.n);

    assert_non_null(bytes);
    memcpy(bytes, f->bytes, f->n);
    memcpy(bytes + f->n, l.p, l.n);
    put(b, "log/leaves", span_of(bytes, f->n + l.n));
    free(bytes);
}

static void swap_leaves(struct bundle *b)
{
    struct span l = leaf_in(b, last_seq(b) - 30);
    struct span m = leaf_in(b, last_seq(b) - 29);
    uint8_t *at = (uint8_t *)(uintptr_t)l.p, *copy = malloc(l.n);

    assert_non_null(copy);
    memcpy(copy, l.p, l.n);
    memmove(at, m.p, m.n);
    memcpy(at + m.n, copy, l.n);
    free(copy);
}

static void text_before_records(struct bundle *b)
{
    struct bundle_file *f = file(b, "log/leaves");
    uint8_t *bytes = malloc(f->n + 6);

    assert_non_null(bytes);
    memcpy(bytes, "hello\n", 6);
    memcpy(bytes + 6, f->bytes, f->n);
    put(b, "log/leaves", span_of(bytes, f->n + 6));
    free(bytes);
}

static void empty_leaves(struct bundle *b)
{
    file(b, "log/leaves")->n = 0;
}

static void cut_hashes(struct bundle *b)
{
    file(b, "log/hashes")->n -= 32;
}

static void extend_hashes(struct bundle *b)
{
    struct bundle_file *f = file(b, "log/hashes");
    uint8_t *bytes = malloc(f->n + 32);

    assert_non_null(bytes);
    memcpy(bytes, f->bytes, f->n);
    memset(bytes + f->n, 7, 32);
    put(b, "log/hashes", span_of(bytes, f->n + 32));
    free(bytes);
}

static void flip_hash(struct bundle *b)
{
    file(b, "log/hashes")->bytes[40] ^= 1;
}

static void alter_signature(struct bundle *b)
{
    struct bundle_file *f = file(b, "checkpoint");

    f->bytes[f->n - 20] ^= 1; /* within the base64, another letter */
}

static void alter_old_signature(struct bundle *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (strncmp(b->files[i].name, "checkpoints/", 12) == 0) {
            b->files[i].bytes[b->files[i].n - 20] ^= 1;
            return;
        }
}

static void older_checkpoint(struct bundle *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (strncmp(b->files[i].name, "checkpoints/", 12) == 0) {
            put(b, "checkpoint", bundle_bytes(&b->files[i]));
            return;
        }
}

static void misnamed_checkpoint(struct bundle *b)
{
    assert_int_equal(
        bundle_add(b, "checkpoints/5", bundle_bytes(file(b, "checkpoint"))), 0);
}

static void no_last_checkpoint(struct bundle *b)
{
    char name[BUNDLE_NAME];

    snprintf(name, sizeof name, "checkpoints/%" PRIu64, last_seq(b) + 1);
    take_away(b, name);
}

static void no_drawn_checkpoint(struct bundle *b)
{
    struct span l;
    uint64_t seq = last_seq(b);

    do
        l = leaf_in(b, seq--);
    while (!span_eq_str(record_find(l, "type"), "seed"));
    for (size_t i = 0; i < b->n; i++) {
        char name[BUNDLE_NAME];
        struct span size = record_find(l, "checkpoint_size");

        snprintf(name, sizeof name, "checkpoints/%.*s", (int)size.n,
                 (const char *)size.p);
        if (strcmp(b->files[i].name, name) == 0) {
            take_away(b, name);
            return;
        }
    }
}

static void flip(struct bundle *b, const char *name)
{
    struct bundle_file *f = file(b, name);

    f->bytes[f->n / 2] ^= 1;
}

static void alter_seed_text(struct bundle *b)
{
    flip(b, "epoch-2/seed.txt");
}

static void alter_draw_text(struct bundle *b)
{
    flip(b, "epoch-2/draw.txt");
}

static void alter_verdict_text(struct bundle *b)
{
    flip(b, "epoch-2/verdicts.txt");
}

static void alter_policy_text(struct bundle *b)
{
    flip(b, "epoch-2/policy.txt");
}

static void alter_frame(struct bundle *b)
{
    flip(b, "epoch-2/frame.bin");
}

static void cut_frame(struct bundle *b)
{
    file(b, "epoch-2/frame.bin")->n -= 52;
}

static void extend_frame(struct bundle *b)
{
    struct bundle_file *f = file(b, "epoch-2/frame.bin");
    uint8_t *bytes = calloc(1, f->n + 52);

    assert_non_null(bytes);
    memcpy(bytes, f->bytes, f->n);
    put(b, "epoch-2/frame.bin", span_of(bytes, f->n + 52));
    free(bytes);
}

static void no_draw_text(struct bundle *b)
{
    take_away(b, "epoch-2/draw.txt");
}

static void no_leaves(struct bundle *b)
{
    take_away(b, "log/leaves");
}

static void no_frame(struct bundle *b)
{
    take_away(b, "epoch-2/frame.bin");
}

static void other_epoch(struct bundle *b)
{
    b->epoch = 9;
    for (size_t i = 0; i < b->n; i++)
        if (strncmp(b->files[i].name, "epoch-2", 7) == 0)
            b->files[i].name[6] = '9';
}

static const struct {
    const char *what;
    void (*harm)(struct bundle *b);
    bool manifest; /* is made again by who did it */
    const char *check, *reason;
} harms[] = {
    {"flipped bit", flip_leaf, true, "hashes", "its bytes give"},
    {"flipped bit, old manifest", flip_leaf, false, "manifest",
     "log/leaves has other bytes"},
    {"leaf removed", remove_leaf, true, "records", "is missing"},
    {"last leaf removed", remove_last_leaf, true, "records", "is missing"},
    {"leaf doubled", double_leaf, true, "leaves", "a record stands twice"},
    {"leaves swapped", swap_leaves, true, "leaves", "records are not in order"},
    {"text before", text_before_records, true, "leaves",
     "text stands outside a record"},
    {"no leaves", empty_leaves, true, "leaves", "log/leaves is empty"},
    {"log cut", cut_hashes, true, "tree", "the checkpoint signs"},
    {"log extended", extend_hashes, true, "tree", "the checkpoint signs"},
    {"hash flipped", flip_hash, true, "tree", "is signed, the hashes give"},
    {"signature altered", alter_signature, true, "signature", "checkpoint: "},
    {"old signature altered", alter_old_signature, true, "checkpoints",
     "checkpoints/"},
    {"older checkpoint", older_checkpoint, true, "tree",
     "the checkpoint signs"},
    {"checkpoint misnamed", misnamed_checkpoint, true, "checkpoints",
     "checkpoints/5 signs"},
    {"last checkpoint gone", no_last_checkpoint, true, "checkpoints",
     "./checkpoint is not among"},
    {"seed's checkpoint gone", no_drawn_checkpoint, true, "order",
     "leaves is signed"},
    {"seed.txt", alter_seed_text, true, "seed", "seed.txt: differs"},
    {"draw.txt", alter_draw_text, true, "draw", "draw.txt: differs"},
    {"verdicts.txt", alter_verdict_text, true, "answers",
     "verdicts.txt: differs"},
    {"policy.txt", alter_policy_text, true, "policy", "policy.txt: differs"},
    {"frame.bin", alter_frame, true, "frame", "frame.bin: entry"},
    {"frame.bin cut", cut_frame, true, "frame", "frame.bin: entry 40"},
    {"frame.bin extended", extend_frame, true, "frame",
     "frame.bin has more than"},
    {"draw.txt gone", no_draw_text, true, "draw", "missing file: draw.txt"},
    {"leaves gone", no_leaves, true, "files", "missing file: log/leaves"},
    {"frame gone", no_frame, true, "files", "missing file: frame.bin"},
    {"file gone, old manifest", no_draw_text, false, "manifest",
     "does not list epoch-2/frame.bin in its place"},
    {"another epoch", other_epoch, true, "records", "epoch 9 was not closed"},
};

enum { HARMS = sizeof harms / sizeof harms[0] };

static void every_harm_on_the_way_is_refused_for_its_reason(void **state)
{
    struct world w;

    (void)state;
    world_make(&w, LIE_NONE);
    for (size_t i = 0; i < HARMS; i++) {
        struct bundle b = check_export(&w, 2);
        struct report r;

        fprintf(stderr, "%s\n", harms[i].what);
        harms[i].harm(&b);
        if (harms[i].manifest) {
            take_away(&b, "manifest.sha256");
            assert_int_equal(bundle_add_manifest(&b), 0);
        }
        r = check_verify(&b, w.vkey);
        check_refused(&r, harms[i].check, harms[i].reason);
        bundle_fini(&b);
    }
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_harm_on_the_way_is_refused_for_its_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
