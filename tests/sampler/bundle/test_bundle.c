/*
 * test_bundle.c - export and verification: an honest epoch passes, and every
 * lie of world.h, hashed and signed by a liar who holds the keys, is refused
 * for its own reason. test_harm.c has what is done to a bundle on its way.
 * SPDX-License-Identifier: Apache-2.0
 */
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

#include "bundle_check.h"

static void an_honest_epoch_passes_every_check(void **state)
{
    struct world w;

    (void)state;
    world_make(&w, LIE_NONE);
    for (uint64_t epoch = 1; epoch <= 2; epoch++) {
        struct bundle b = check_export(&w, epoch);
        struct report r = check_verify(&b, w.vkey);

        if (report_exit(&r) != 0)
            report_print(&r, stderr);
        assert_int_equal(report_exit(&r), 0);
        assert_non_null(strstr(r.statement, "10 reproduced"));
        assert_non_null(strstr(r.statement, "At a confidence of 95% at most "));
        assert_null(strstr(r.statement, "All were drawn"));
        assert_null(strstr(r.statement, "no batch feed"));
        assert_int_equal(
            strstr(check_row(&r, "verdicts")->detail,
                   "10 matches by search, on 40 bits of evidence or more") !=
                NULL,
            epoch == 2);
        bundle_fini(&b);
    }
    world_fini(&w);
}

/* So few that the policy draws them all. */
static void of_a_census_the_statement_gives_a_count(void **state)
{
    struct world w;
    struct bundle b;
    struct report r;

    (void)state;
    world_make_sized(&w, LIE_NONE, 6);
    b = check_export(&w, 2);
    r = check_verify(&b, w.vkey);
    if (report_exit(&r) != 0)
        report_print(&r, stderr);
    assert_int_equal(report_exit(&r), 0);
    assert_non_null(strstr(r.statement, "All were drawn, so this is a count"));
    assert_null(strstr(r.statement, "At a confidence of"));
    bundle_fini(&b);
    world_fini(&w);
}

static void an_epoch_without_a_certificate_is_incomplete(void **state)
{
    struct world w;
    struct bundle b;
    struct report r;

    (void)state;
    world_make(&w, LIE_NONE);
    b = check_export(&w, 3);
    r = check_verify(&b, w.vkey);
    if (report_exit(&r) != 6)
        report_print(&r, stderr);
    assert_int_equal(report_exit(&r), 6);
    assert_int_equal(check_row(&r, "draw")->state, CHECK_OK);
    assert_int_equal(check_row(&r, "certificate")->state, CHECK_NOT);
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
    b = check_export(&w, 2);
    r = check_verify(&b, NULL);
    assert_int_equal(report_exit(&r), 6);
    assert_int_equal(check_row(&r, "signature")->state, CHECK_NOT);
    assert_int_equal(check_row(&r, "certificate")->state, CHECK_OK);
    bundle_fini(&b);
    world_fini(&w);
}

static void the_same_log_gives_the_same_bytes(void **state)
{
    struct world w;
    struct bundle a, b;

    (void)state;
    world_make(&w, LIE_NONE);
    a = check_export(&w, 2);
    b = check_export(&w, 2);
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
    b = check_export(&w, 1);
    n = w.n;
    n_notes = w.n_notes;
    for (w.n_notes = 1; w.notes[w.n_notes - 1].size < w.notes[1].size;
         w.n_notes++)
        ;
    w.n = (size_t)w.notes[w.n_notes - 1].size;
    a = check_export(&w, 1);
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
    {LIE_CHECKPOINT_LACKS_CLOSE, "order", "does not cover the close"},
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
    {LIE_RESULT_BEFORE_JOB, "jobs", "a verdict without its result"},
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
        b = check_export(&w, 2);
        r = check_verify(&b, w.vkey);
        fprintf(stderr, "%s\n", lie_name(refusals[i].lie));
        check_refused(&r, refusals[i].check, refusals[i].reason);
        bundle_fini(&b);
        world_fini(&w);
    }
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
    b = check_export(&w, 2);
    assert_int_equal(note_signer_open(WORLD_ORIGIN, seed, &signer), 0);
    note_key_print(note_signer_key(signer), vkey);
    r = check_verify(&b, vkey);
    check_refused(&r, "signature", note_result_text(NOTE_UNSIGNED));
    r = check_verify(&b, "nonsense");
    check_refused(&r, "signature", "not a verifier key");
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
    b = check_export(&honest, 2);
    o = (struct verify_options){honest.vkey, span_str(honest.notes[1].text)};
    verify_bundle(&b, &o, &r);
    assert_int_equal(check_row(&r, "since")->state, CHECK_OK);
    assert_int_equal(report_exit(&r), 0);
    /* The same key signed another history, at the same size. */
    o.since = span_str(liar.notes[3].text);
    verify_bundle(&b, &o, &r);
    check_refused(&r, "since", "the log was another one");
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
    b = check_export(&w, 2);
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
    r = check_verify(&b, w.vkey);
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
        cmocka_unit_test(of_a_census_the_statement_gives_a_count),
        cmocka_unit_test(an_epoch_without_a_certificate_is_incomplete),
        cmocka_unit_test(without_a_pinned_key_it_is_incomplete),
        cmocka_unit_test(the_same_log_gives_the_same_bytes),
        cmocka_unit_test(a_log_that_grew_gives_the_same_bytes),
        cmocka_unit_test(every_signed_lie_is_refused_for_its_reason),
        cmocka_unit_test(another_key_is_refused),
        cmocka_unit_test(a_checkpoint_of_the_auditor_must_lie_in_the_tree),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(doubtful_containers_are_refused),
        cmocka_unit_test(a_missing_directory_is_an_error_of_reading),
        cmocka_unit_test(export_needs_a_closed_and_signed_epoch),
    };

    return cmocka_run_group_tests(tests, make_top, remove_top);
}
