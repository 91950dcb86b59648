/*
 * test_bundle.c - export and verification: an honest epoch passes, and every
 * lie is refused, each for its own reason. The lies of world.h are hashed and
 * signed by a liar who holds the keys; those of this file are done to the
 * bundle on its way.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "verify.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "export.h"
#include "world.h"

static struct bundle export_world(struct world *w, uint64_t epoch)
{
    struct export_note notes[64];
    struct export_source s;
    struct bundle b;

    assert_true(w->n_notes < 64);
    world_source(w, notes, &s);
    assert_int_equal(export_epoch(&s, epoch, &b), 0);
    return b;
}

static struct report verified(const struct bundle *b, const char *vkey)
{
    const struct verify_options o = {vkey, {NULL, 0}};
    struct report r;

    verify_bundle(b, &o, &r);
    return r;
}

static const struct check *row(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->check[i].name, name) == 0)
            return &r->check[i];
    fail_msg("no check %s", name);
    return NULL;
}

static void show(const struct report *r)
{
    report_print(r, stderr);
}

/* The row fails with a detail that contains the text, and no row above it
 * fails: the reason is its own. */
static void refused_for(const struct report *r, const char *name,
                        const char *text)
{
    const struct check *c = row(r, name);

    if (c->state != CHECK_FAIL || strstr(c->detail, text) == NULL) {
        show(r);
        fail_msg("not refused by \"%s\" for \"%s\"", name, text);
    }
    for (const struct check *above = r->check; above < c; above++)
        if (above->state == CHECK_FAIL) {
            show(r);
            fail_msg("\"%s\" fails before \"%s\"", above->name, name);
        }
    assert_int_equal(report_exit(r), 1);
    assert_string_equal(r->statement, "");
}

static void an_honest_epoch_passes_every_check(void **state)
{
    struct world w;

    (void)state;
    world_make(&w, LIE_NONE);
    for (uint64_t epoch = 1; epoch <= 2; epoch++) {
        struct bundle b = export_world(&w, epoch);
        struct report r = verified(&b, w.vkey);

        if (report_exit(&r) != 0)
            show(&r);
        assert_int_equal(report_exit(&r), 0);
        assert_non_null(strstr(r.statement, "10 reproduced"));
        bundle_fini(&b);
    }
    world_fini(&w);
}

static void an_epoch_without_a_certificate_is_incomplete(void **state)
{
    struct world w;
    struct bundle b;
    struct report r;

    (void)state;
    world_make(&w, LIE_NONE);
    b = export_world(&w, 3);
    r = verified(&b, w.vkey);
    if (report_exit(&r) != 6)
        show(&r);
    assert_int_equal(report_exit(&r), 6);
    assert_int_equal(row(&r, "draw")->state, CHECK_OK);
    assert_int_equal(row(&r, "certificate")->state, CHECK_NOT);
    assert_string_equal(r.statement, "");
    bundle_fini(&b);
    world_fini(&w);
}

static void without_a_pinned_key_it_is_incomplete(void **state)
{
    struct world w;
    struct bundle b;
    struct report r;

    (void)state;
    world_make(&w, LIE_NONE);
    b = export_world(&w, 2);
    r = verified(&b, NULL);
    assert_int_equal(report_exit(&r), 6);
    assert_int_equal(row(&r, "signature")->state, CHECK_NOT);
    assert_int_equal(row(&r, "certificate")->state, CHECK_OK);
    bundle_fini(&b);
    world_fini(&w);
}

static void the_same_log_gives_the_same_bytes(void **state)
{
    struct world w;
    struct bundle a, b;

    (void)state;
    world_make(&w, LIE_NONE);
    a = export_world(&w, 2);
    b = export_world(&w, 2);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        assert_string_equal(a.files[i].name, b.files[i].name);
        assert_true(
            span_eq(bundle_bytes(&a.files[i]), bundle_bytes(&b.files[i])));
    }
    bundle_fini(&a);
    bundle_fini(&b);
    world_fini(&w);
}

static void a_log_that_grew_gives_the_same_bytes(void **state)
{
    struct world w;
    struct bundle a, b;
    size_t n, n_notes;

    (void)state;
    world_make(&w, LIE_NONE);
    b = export_world(&w, 1);
    n = w.n;
    n_notes = w.n_notes;
    for (w.n_notes = 1; w.notes[w.n_notes - 1].size < w.notes[1].size;
         w.n_notes++)
        ;
    w.n = (size_t)w.notes[w.n_notes - 1].size;
    a = export_world(&w, 1);
    assert_true(w.n < n && w.n_notes < n_notes);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++)
        assert_true(
            span_eq(bundle_bytes(&a.files[i]), bundle_bytes(&b.files[i])));
    w.n = n;
    w.n_notes = n_notes;
    bundle_fini(&a);
    bundle_fini(&b);
    world_fini(&w);
}

/* One row for each lie a key holder can tell. */
static const struct {
    enum lie lie;
    const char *check, *reason;
} refusals[] = {
    {LIE_DRAW_BEFORE_CHECKPOINT, "order", "does not cover the close"},
    {LIE_REVEAL_BEFORE_CHECKPOINT, "order",
     "a reveal stands before the checkpoint"},
    {LIE_REVEAL_BEFORE_CLOSE, "order", "a reveal stands before the close"},
    {LIE_REVEAL_NOT_ON_CHAIN, "reveals", "does not lead to the chain"},
    {LIE_REVEAL_MISSING, "reveals", "0 reveals of party auditor"},
    {LIE_REVEAL_TWICE, "reveals", "2 reveals of party auditor"},
    {LIE_CHAIN_AFTER_CLOSE, "reveals", "does not lead to the chain"},
    {LIE_VRF_PROOF, "vrf", "the VRF proof does not hold"},
    {LIE_VRF_OUTPUT, "vrf", "the VRF output is not that of its proof"},
    {LIE_VRF_OTHER_SEED, "vrf", "the VRF proof does not hold"},
    {LIE_SEED_TEXT, "seed", "the seed text is not what the records give"},
    {LIE_SEED_HASH, "seed", "the seed is not the hash of its text"},
    {LIE_SEED_OTHER_ROOT, "order", "another root than checkpoints/"},
    {LIE_SEED_TWICE, "epoch", "the epoch has 2 seeds"},
    {LIE_DRAW_REPLACED, "draw", "the record says \"drawn"},
    {LIE_DRAW_LEFT_OUT, "draw", "the record says \"drawn"},
    {LIE_DRAW_EXTRA, "draw", "recomputed \"\""},
    {LIE_DRAW_TWICE, "epoch", "the epoch was drawn before"},
    {LIE_DRAW_BEFORE_SEED, "order", "stands before the seed"},
    {LIE_CLOSE_TWICE, "epoch", "the epoch was closed 2 times"},
    {LIE_CLOSE_COUNT, "close",
     "says \"incomplete 2\", recomputed \"incomplete 3\""},
    {LIE_CLOSE_SAMPLE_SIZE, "close", "says \"stratum 1,rest,38,11,"},
    {LIE_CLOSE_SKIPS_LEAF, "epoch", "the epoch begins at leaf"},
    {LIE_CLOSE_NO_FEED, "close", "the close says that there was no feed"},
    {LIE_FRAME_LEFT_OUT, "frame", "the frame root is not that"},
    {LIE_POLICY_SWAPPED, "policy", "commits to another policy"},
    {LIE_POLICY_HASH, "policy", "another hash than it says"},
    {LIE_VERDICT_TO_MATCH, "verdicts",
     "says MATCH \"\" \"\", its counts give MISMATCH \"token\""},
    {LIE_VERDICT_CLASS, "verdicts", "\"envelope\" \"\", its counts give"},
    {LIE_VERDICT_UNDRAWN, "jobs", "a unit that was not drawn"},
    {LIE_VERDICT_BEFORE_DRAW, "order", "a job stands before the draw"},
    {LIE_RESULT_MISSING, "jobs", "a verdict without its result"},
    {LIE_RESULT_OTHER_NONCE, "jobs", "a verdict without its result"},
    {LIE_JOB_MISSING, "jobs", "a verdict without a job"},
    {LIE_CERTIFICATE_COUNT, "certificate",
     "says \"mismatch 0\", recomputed \"mismatch 1\""},
    {LIE_CERTIFICATE_BOUND, "certificate", "recomputed \"bound_ppm"},
    {LIE_CERTIFICATE_UNANSWERED, "certificate",
     "says \"match 11\", recomputed \"match 10\""},
    {LIE_CERTIFICATE_TWICE, "epoch", "the epoch has 2 certificates"},
    {LIE_CERTIFICATE_FROM_FUTURE, "certificate", "stand behind it"},
    {LIE_GENESIS_OTHER_KEY, "genesis", "leaf 0 names another key"},
    {LIE_GENESIS_OTHER_ORIGIN, "genesis", "leaf 0 is of another log"},
    {LIE_RECORD_MALFORMED, "records", "not of its key's type"},
    {LIE_CHECKPOINT_FORKED, "checkpoints", "signs root"},
};

enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

static void every_signed_lie_is_refused_for_its_reason(void **state)
{
    (void)state;
    assert_int_equal(REFUSALS, LIES - 1); /* none is forgotten */
    for (size_t i = 0; i < REFUSALS; i++) {
        struct world w;
        struct bundle b;
        struct report r;

        world_make(&w, refusals[i].lie);
        b = export_world(&w, 2);
        r = verified(&b, w.vkey);
        fprintf(stderr, "%s\n", lie_name(refusals[i].lie));
        refused_for(&r, refusals[i].check, refusals[i].reason);
        bundle_fini(&b);
        world_fini(&w);
    }
}

/* What is done to a bundle on its way. */
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
    const struct bundle_leaf *l;
    const char *why;
    struct span bytes;
    size_t at;

    assert_int_equal(
        leafset_parse(bundle_bytes(file(b, "log/leaves")), &set, &at, &why),
        PARSE_OK);
    l = leafset_find(&set, seq);
    assert_non_null(l);
    bytes = l->bytes;
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
        struct bundle b = export_world(&w, 2);
        struct report r;

        fprintf(stderr, "%s\n", harms[i].what);
        harms[i].harm(&b);
        if (harms[i].manifest) {
            take_away(&b, "manifest.sha256");
            assert_int_equal(bundle_add_manifest(&b), 0);
        }
        r = verified(&b, w.vkey);
        refused_for(&r, harms[i].check, harms[i].reason);
        bundle_fini(&b);
    }
    world_fini(&w);
}

static void another_key_is_refused(void **state)
{
    uint8_t seed[32] = {2};
    struct note_signer *signer;
    char vkey[NOTE_VKEY];
    struct world w;
    struct bundle b;
    struct report r;

    (void)state;
    world_make(&w, LIE_NONE);
    b = export_world(&w, 2);
    assert_int_equal(note_signer_open(WORLD_ORIGIN, seed, &signer), 0);
    note_key_print(note_signer_key(signer), vkey);
    r = verified(&b, vkey);
    refused_for(&r, "signature", note_result_text(NOTE_UNSIGNED));
    r = verified(&b, "nonsense");
    refused_for(&r, "signature", "not a verifier key");
    note_signer_close(signer);
    bundle_fini(&b);
    world_fini(&w);
}

static void a_checkpoint_of_the_auditor_must_lie_in_the_tree(void **state)
{
    struct world honest, liar;
    struct bundle b;
    struct verify_options o;
    struct report r;

    (void)state;
    world_make(&honest, LIE_NONE);
    world_make(&liar, LIE_CLOSE_COUNT);
    b = export_world(&honest, 2);
    o = (struct verify_options){honest.vkey, span_str(honest.notes[1].text)};
    verify_bundle(&b, &o, &r);
    assert_int_equal(row(&r, "since")->state, CHECK_OK);
    assert_int_equal(report_exit(&r), 0);
    /* The same key signed another history, at the same size. */
    o.since = span_str(liar.notes[3].text);
    verify_bundle(&b, &o, &r);
    refused_for(&r, "since", "the log was another one");
    bundle_fini(&b);
    world_fini(&honest);
    world_fini(&liar);
}

/* On disk. */
static char top[] = "/tmp/assay-bundle-XXXXXX";

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) == NULL ? -1 : 0;
}

static int remove_top(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command) == 0 ? 0 : -1;
}

static void write_world(const char *name, char dir[128])
{
    struct world w;
    struct bundle b;

    world_make(&w, LIE_NONE);
    b = export_world(&w, 2);
    snprintf(dir, 128, "%s/%s", top, name);
    assert_int_equal(bundle_write(&b, dir), 0);
    bundle_fini(&b);
    world_fini(&w);
}

static void what_is_written_reads_back(void **state)
{
    char dir[128], why[BUNDLE_WHY];
    struct world w;
    struct bundle b;
    struct report r;

    (void)state;
    write_world("plain", dir);
    world_make(&w, LIE_NONE);
    assert_int_equal(bundle_read(dir, &b, why), 0);
    r = verified(&b, w.vkey);
    assert_int_equal(report_exit(&r), 0);
    assert_int_equal(bundle_write(&b, dir), -EEXIST);
    bundle_fini(&b);
    world_fini(&w);
}

/* Does a thing in a fresh bundle and expects it refused. */
static void refused_on_disk(const char *name, const char *command,
                            const char *expected)
{
    char dir[128], line[512], why[BUNDLE_WHY] = "";
    struct bundle b;

    write_world(name, dir);
    snprintf(line, sizeof line, "cd %s && %s", dir, command);
    assert_int_equal(system(line), 0);
    assert_int_equal(bundle_read(dir, &b, why), -EBADMSG);
    assert_ptr_equal(strstr(why, expected), why);
}

static void doubtful_containers_are_refused(void **state)
{
    (void)state;
    refused_on_disk("unknown", "touch extra", "unknown file: extra");
    refused_on_disk("deep", "touch log/extra", "unknown file: extra");
    refused_on_disk("folder", "mkdir more", "unknown file: more");
    refused_on_disk("link", "ln -sf /etc/passwd checkpoint",
                    "not a regular file: checkpoint");
    refused_on_disk("folderlink", "mv log /tmp/$$; rm -r /tmp/$$; ln -s . log",
                    "not a regular file: log");
    refused_on_disk("pipe", "rm checkpoint && mkfifo checkpoint",
                    "not a regular file: checkpoint");
    refused_on_disk("epochs", "mkdir epoch-3", "more than one epoch: epoch-");
    refused_on_disk("noepoch", "rm -r epoch-2", "no folder of an epoch");
    refused_on_disk("number", "touch checkpoints/07", "unknown file: 07");
    refused_on_disk("below", "mkdir log/more", "unknown file: more");
}

static void a_missing_directory_is_an_error_of_reading(void **state)
{
    char why[BUNDLE_WHY];
    struct bundle b;

    (void)state;
    assert_int_equal(bundle_read("/nonexistent", &b, why), -ENOENT);
}

static void export_needs_a_closed_and_signed_epoch(void **state)
{
    struct export_note notes[64];
    struct export_source s;
    struct bundle b;
    struct world w;

    (void)state;
    world_make(&w, LIE_NONE);
    world_source(&w, notes, &s);
    assert_int_equal(export_epoch(&s, 9, &b), -ENOENT);
    s.n_notes = 1;
    assert_int_equal(export_epoch(&s, 3, &b), -EAGAIN);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_epoch_passes_every_check),
        cmocka_unit_test(an_epoch_without_a_certificate_is_incomplete),
        cmocka_unit_test(without_a_pinned_key_it_is_incomplete),
        cmocka_unit_test(the_same_log_gives_the_same_bytes),
        cmocka_unit_test(a_log_that_grew_gives_the_same_bytes),
        cmocka_unit_test(every_signed_lie_is_refused_for_its_reason),
        cmocka_unit_test(every_harm_on_the_way_is_refused_for_its_reason),
        cmocka_unit_test(another_key_is_refused),
        cmocka_unit_test(a_checkpoint_of_the_auditor_must_lie_in_the_tree),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(doubtful_containers_are_refused),
        cmocka_unit_test(a_missing_directory_is_an_error_of_reading),
        cmocka_unit_test(export_needs_a_closed_and_signed_epoch),
    };

    return cmocka_run_group_tests(tests, make_top, remove_top);
}
