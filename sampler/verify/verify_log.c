/*
 * verify_log.c - the log: files, signatures, tree, and every leaf in it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "seed/hex.h"
#include "store/record.h"
#include "store/sha256.h"
#include "verify/verify.h"

/* Two hashes as text, for a report. */
struct two {
    char a[HEX_TEXT(32)], b[HEX_TEXT(32)];
};

static struct two two_of(const uint8_t a[32], const uint8_t b[32])
{
    struct two t;

    hex_print(span_of(a, 32), t.a);
    hex_print(span_of(b, 32), t.b);
    return t;
}

bool verify_files(struct verify *v)
{
    static const char *const always[] = {"README.verify.txt", "manifest.sha256",
                                         "checkpoint",        "log/hashes",
                                         "log/leaves",        NULL};
    static const char *const of_epoch[] = {"policy.txt", "frame.bin", NULL};

    for (const char *const *name = always; *name != NULL; name++)
        if (bundle_find(v->b, *name) == NULL)
            return report_fail(v->r, "missing file: %s", *name);
    for (const char *const *name = of_epoch; *name != NULL; name++)
        if (bundle_find_epoch(v->b, *name) == NULL)
            return report_fail(v->r, "missing file: %s", *name);
    report_ok(v->r, "%zu files, all of them known", v->b->n);
    return true;
}

/* One line "HEX  NAME\n" for this file, and nothing else, at the cursor. */
static bool manifest_line(struct verify *v, struct cursor *c,
                          const struct bundle_file *f)
{
    uint8_t hash[SHA256_BYTES];
    char hex[HEX_TEXT(SHA256_BYTES)];
    struct span digest = cursor_take(c, 2 * SHA256_BYTES);
    struct span gap = cursor_take(c, 2);
    struct span name = cursor_take(c, strlen(f->name));
    struct span lf = cursor_take(c, 1);

    if (c->bad || !span_eq_str(gap, "  ") || !span_eq_str(name, f->name) ||
        !span_eq_str(lf, "\n"))
        return report_fail(v->r, "the manifest does not list %s in its place",
                           f->name);
    sha256(bundle_bytes(f), hash);
    hex_print(span_of(hash, sizeof hash), hex);
    if (!span_eq_str(digest, hex))
        return report_fail(v->r, "%s has other bytes than the manifest says",
                           f->name);
    return true;
}

bool verify_manifest(struct verify *v)
{
    const struct bundle_file *m = bundle_find(v->b, "manifest.sha256");
    struct cursor c = cursor_of(bundle_bytes(m));

    for (size_t i = 0; i < v->b->n; i++)
        if (&v->b->files[i] != m && !manifest_line(v, &c, &v->b->files[i]))
            return false;
    if (cursor_left(&c) != 0)
        return report_fail(v->r, "the manifest lists a file that is not there");
    report_ok(v->r, "every file has the bytes it says");
    return true;
}

bool verify_leaves(struct verify *v)
{
    const struct bundle_file *f = bundle_find(v->b, "log/leaves");
    const char *why;
    size_t at;

    if (leafset_parse(bundle_bytes(f), &v->set, &at, &why) != PARSE_OK)
        return report_fail(v->r, "log/leaves: record %zu: %s", at, why);
    if (v->set.n == 0)
        return report_fail(v->r, "log/leaves is empty");
    dossier_init(&v->d, &v->set, v->b->epoch);
    report_ok(v->r, "%zu records", v->set.n);
    return true;
}

static bool note_checked(struct verify *v, struct span note, const char *name,
                         struct checkpoint *ret_c)
{
    struct note_seals seals;
    struct span text;
    enum note_result r = note_open(note, &v->key, 1, &text, &seals);

    if (r != NOTE_GOOD)
        return report_fail(v->r, "%s: %s", name, note_result_text(r));
    if (checkpoint_parse(text, ret_c) != PARSE_OK)
        return report_fail(v->r, "%s: not a checkpoint", name);
    return true;
}

bool verify_signature(struct verify *v)
{
    const struct bundle_file *f = bundle_find(v->b, "checkpoint");
    char own[NOTE_VKEY];

    if (v->o->vkey != NULL) {
        if (note_key_parse(span_str(v->o->vkey), &v->key) != PARSE_OK)
            return report_fail(v->r, "the key given is not a verifier key");
    } else if (v->d.genesis == NULL ||
               !leaf_text(v->d.genesis, "log_vkey", own, sizeof own) ||
               note_key_parse(span_str(own), &v->key) != PARSE_OK)
        return report_fail(v->r, "no key was given and the log names none");
    if (!note_checked(v, bundle_bytes(f), "checkpoint", &v->head))
        return false;
    if (strcmp(v->head.origin, v->key.name) != 0)
        return report_fail(v->r,
                           "the checkpoint is of the log \"%s\","
                           " the key of \"%s\"",
                           v->head.origin, v->key.name);
    if (v->o->vkey == NULL)
        report_not(v->r, CHECK_NOT,
                   "signed by the key that the log itself names; whose it is"
                   " shows only --key");
    report_ok(v->r, "%" PRIu64 " leaves, signed by %s", v->head.head.size,
              v->key.name);
    return true;
}

bool verify_tree(struct verify *v)
{
    const struct bundle_file *f = bundle_find(v->b, "log/hashes");
    uint8_t root[MERKLE_HASH];
    struct two t;

    if (f->n % MERKLE_HASH != 0 || f->n / MERKLE_HASH != v->head.head.size)
        return report_fail(v->r,
                           "log/hashes has %zu bytes, the checkpoint signs"
                           " %" PRIu64 " leaves of 32",
                           f->n, v->head.head.size);
    v->hashes = (const uint8_t(*)[MERKLE_HASH])f->bytes;
    merkle_root(v->hashes, (size_t)v->head.head.size, root);
    if (memcmp(root, v->head.head.root, sizeof root) != 0) {
        t = two_of(v->head.head.root, root);
        return report_fail(v->r, "root %s is signed, the hashes give %s", t.a,
                           t.b);
    }
    report_ok(v->r, "the hashes give the signed root");
    return true;
}

static int by_size(const void *a, const void *b)
{
    const struct checkpoint *x = a, *y = b;

    return x->head.size < y->head.size ? -1 : x->head.size > y->head.size;
}

/* Takes every file of checkpoints/ into points. */
static bool read_points(struct verify *v)
{
    static const char folder[] = "checkpoints/";

    v->points = calloc(v->b->n + 1, sizeof *v->points);
    if (v->points == NULL)
        return report_fail(v->r, "out of memory");
    for (size_t i = 0; i < v->b->n; i++) {
        const struct bundle_file *f = &v->b->files[i];
        struct checkpoint *c = &v->points[v->n_points];
        uint64_t size;

        if (strncmp(f->name, folder, strlen(folder)) != 0)
            continue;
        if (!note_checked(v, bundle_bytes(f), f->name, c))
            return false;
        if (record_parse_u64(span_str(f->name + strlen(folder)), &size) !=
                PARSE_OK ||
            size != c->head.size)
            return report_fail(v->r, "%s signs %" PRIu64 " leaves", f->name,
                               c->head.size);
        if (strcmp(c->origin, v->head.origin) != 0)
            return report_fail(v->r, "%s is of another log", f->name);
        v->n_points++;
    }
    qsort(v->points, v->n_points, sizeof *v->points, by_size);
    return true;
}

/* Every signed head against the tree at its size: so each is a beginning of
 * every later one (RFC 6962 section 2.1.2 without the detour of proofs). */
static bool points_in_tree(struct verify *v)
{
    struct merkle_range range;
    uint8_t root[MERKLE_HASH];

    merkle_range_init(&range);
    for (size_t i = 0; i < v->n_points; i++) {
        const struct merkle_head *h = &v->points[i].head;

        if (h->size > v->head.head.size)
            return report_fail(
                v->r, "checkpoints/%" PRIu64 " is larger than ./checkpoint",
                h->size);
        while (range.size < h->size)
            merkle_range_append(&range, v->hashes[range.size]);
        merkle_range_root(&range, root);
        if (memcmp(root, h->root, sizeof root) != 0) {
            struct two t = two_of(h->root, root);

            return report_fail(
                v->r, "checkpoints/%" PRIu64 " signs root %s, the tree had %s",
                h->size, t.a, t.b);
        }
    }
    return true;
}

bool verify_checkpoints(struct verify *v)
{
    if (!read_points(v) || !points_in_tree(v))
        return false;
    if (v->n_points == 0 ||
        v->points[v->n_points - 1].head.size != v->head.head.size)
        return report_fail(v->r, "./checkpoint is not among checkpoints/");
    report_ok(v->r, "%zu, each signed and a beginning of the next",
              v->n_points);
    return true;
}

bool verify_since(struct verify *v)
{
    struct checkpoint c = {.head = {0}};
    uint8_t root[MERKLE_HASH];

    if (v->o->since.n == 0) {
        report_not(v->r, CHECK_NOT_ASKED,
                   "no earlier checkpoint was given with --since");
        return true;
    }
    if (!note_checked(v, v->o->since, "the checkpoint given", &c))
        return false;
    if (c.head.size > v->head.head.size)
        return report_fail(v->r,
                           "the checkpoint given signs %" PRIu64
                           " leaves, the bundle has %" PRIu64,
                           c.head.size, v->head.head.size);
    merkle_root(v->hashes, (size_t)c.head.size, root);
    if (memcmp(root, c.head.root, sizeof root) != 0)
        return report_fail(
            v->r, "the log was another one when it had %" PRIu64 " leaves",
            c.head.size);
    report_ok(v->r,
              "the tree goes on from the checkpoint of %" PRIu64 " leaves",
              c.head.size);
    return true;
}

bool verify_hashes(struct verify *v)
{
    for (size_t i = 0; i < v->set.n; i++) {
        const struct bundle_leaf *l = &v->set.leaves[i];
        uint8_t hash[MERKLE_HASH];
        struct two t;

        if (l->seq >= v->head.head.size)
            return report_fail(
                v->r, "leaf %" PRIu64 " lies behind the checkpoint", l->seq);
        merkle_leaf(l->bytes, hash);
        if (memcmp(hash, v->hashes[l->seq], sizeof hash) == 0)
            continue;
        t = two_of(v->hashes[l->seq], hash);
        return report_fail(v->r,
                           "leaf %" PRIu64 ": the tree has %s, its bytes"
                           " give %s",
                           l->seq, t.a, t.b);
    }
    report_ok(v->r, "every record is the leaf at its place");
    return true;
}

/* From the epoch's first leaf on nothing may be left out: a second draw could
 * hide there. */
static bool contiguous(struct verify *v, uint64_t first)
{
    uint64_t next = first;

    for (size_t i = leafset_from(&v->set, first); i < v->set.n; i++, next++)
        if (v->set.leaves[i].seq != next)
            return report_fail(v->r, "leaf %" PRIu64 " is missing", next);
    if (next != v->head.head.size)
        return report_fail(v->r, "leaf %" PRIu64 " is missing", next);
    return true;
}

bool verify_records(struct verify *v)
{
    uint64_t first;
    const char *why;

    for (size_t i = 0; i < v->set.n; i++)
        if (record_check(v->set.leaves[i].bytes, &why) == NULL)
            return report_fail(v->r, "leaf %" PRIu64 ": %s",
                               v->set.leaves[i].seq, why);
    if (v->d.close == NULL || !leaf_u64(v->d.close, "first", &first))
        return report_fail(v->r, "epoch %" PRIu64 " was not closed",
                           v->b->epoch);
    if (first > v->d.close->seq)
        return report_fail(v->r,
                           "leaf %" PRIu64 ": the epoch begins behind"
                           " its close",
                           v->d.close->seq);
    if (!contiguous(v, first))
        return false;
    report_ok(v->r,
              "well-formed; all from leaf %" PRIu64 " to %" PRIu64 " are here",
              first, v->head.head.size - 1);
    return true;
}
