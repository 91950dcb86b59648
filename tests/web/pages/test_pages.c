/*
 * test_pages.c - what stands on each page, over the records of world.c:
 * web/pages/pages.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define NB "\xc2\xa0"

static int open_world(void **state)
{
    struct world *w = malloc(sizeof *w);

    world_open(w, NULL);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    free(*state);
    return 0;
}

static struct answer page(void **state, const char *path)
{
    const struct world *w = *state;

    return fetch(&w->f.site, path);
}

static struct answer unit_page(void **state, const struct unit_name *unit)
{
    char path[128];

    (void)snprintf(path, sizeof path, "/m/%s", unit->hex);
    return page(state, path);
}

static bool has(const struct answer *a, const char *text)
{
    return strstr(a->body, text) != NULL;
}

#define assert_has(a, text)                                      \
    do {                                                         \
        if (!has(&(a), text))                                    \
            fail_msg("not on the page: %s\n%s", text, (a).body); \
    } while (0)
#define assert_lacks(a, text) assert_false(has(&(a), text))

static void overview_leads_with_the_certificate(void **state)
{
    struct answer a = page(state, "/");

    assert_int_equal(a.status, 200);
    assert_has(a, "<h1>Epoch 1 ");
    assert_has(a, "Of <b>40</b> requests seen, <b>8</b> were drawn after the "
                  "record was sealed: <b class=\"good\">1 "
                  "reproduced bit for bit</b>, <b class=\"bad\">4 did not</b>, "
                  "<b class=\"open\">1 differed between our own repeats</b>, "
                  "<b class=\"open\">1 could not be checked</b>, <b "
                  "class=\"open\">1 without a verdict</b>. With 99" NB "% "
                  "confidence, at most <b>99" NB "%</b> of this epoch");
    assert_has(a, "Outside of this: 3 pieces of traffic not understood, 3 "
                  "losses, 2 findings between feed and wire.");
    free(a.all);
}

static void overview_gives_every_number_its_denominator(void **state)
{
    struct answer a = page(state, "/");

    assert_has(a, "39 complete \xc2\xb7 1 incomplete \xc2\xb7 3 unparsed "
                  "\xc2\xb7 3 lost");
    assert_has(a, "<p class=\"figure\">97.5" NB "%</p>");
    assert_has(a, "1 of 40 requests without a batch element");
    assert_has(a, "<p class=\"figure\">7 of 8</p>");
    assert_has(a, "4 mismatches");
    assert_has(a, "3 requests seen, 0 of them incomplete, not yet in any");
    assert_has(a, "<b>3</b> unparsed records");
    free(a.all);
}

static void silence_is_an_alarm(void **state)
{
    struct fixture f;
    struct answer a;

    (void)state;
    fixture_open(&f, NULL);
    fixture_commit(&f);
    a = fetch(&f.site, "/");
    assert_int_equal(a.status, 200);
    assert_has(a, "No request has been seen. That is no good news");
    assert_has(a, "attention: capture: no traffic recorded yet");
    assert_lacks(a, "100" NB "%");
    free(a.all);
    a = fetch(&f.site, "/coverage");
    assert_has(a, "0 lost of 0 seen is no good news");
    free(a.all);
    fixture_close(&f);
}

static void a_quiet_tap_is_worth_a_sign(void **state)
{
    struct world *w = *state;
    struct answer a = page(state, "/help");

    assert_has(a, "attention: capture: last interval ended"); /* gap bytes */
    free(a.all);
    sqlite3_exec(w->f.db, "UPDATE traffic SET gap_bytes = 0", NULL, NULL, NULL);
    fixture_commit(&w->f);
    a = page(state, "/help");
    assert_has(a, "</span> capture: last interval ended");
    free(a.all);
    w->f.site.quiet_ns = 1;
    a = page(state, "/help");
    assert_has(a, "attention: capture: last interval ended");
    free(a.all);
    w->f.site.quiet_ns = INT64_MAX;
}

static void nothing_of_nothing_is_certified_in_words(void **state)
{
    struct fixture f;
    struct answer a;

    (void)state;
    fixture_open(&f, NULL);
    ADD(&f, "frame_close", "epoch", "1", "reason", "time");
    ADD(&f, "certificate", "epoch", "1", "confidence_ppm", "990000",
        "bound_ppm", "1000000");
    fixture_commit(&f);
    a = fetch(&f.site, "/");
    assert_has(a, "No request was seen in this epoch. Nothing was checked");
    assert_lacks(a, "confidence, at most");
    free(a.all);
    fixture_close(&f);
}

static void says_what_is_not_certified_yet(void **state)
{
    struct fixture f;
    struct unit_name unit;
    struct answer a;
    char drawn[128];

    (void)state;
    fixture_open(&f, NULL);
    unit = ADD(&f, "exchange", "model", "m", "complete", "1");
    ADD(&f, "frame_close", "epoch", "7", "first", "0", "end", "1", "n", "1",
        "seen", "1");
    (void)snprintf(drawn, sizeof drawn, "0,0,%s", unit.hex);
    ADD(&f, "draw", "epoch", "7", "drawn", drawn);
    fixture_commit(&f);
    a = fetch(&f.site, "/");
    assert_has(a, "No certificate yet");
    assert_has(a, "1 drawn, 0 checked so far. Nothing is certified yet.");
    assert_has(a, "not certified");
    free(a.all);
    a = fetch(&f.site, "/epochs/7");
    assert_has(a, "Not yet certified: these are counts so far, no bound.");
    free(a.all);
    fixture_close(&f);
}

static void newest_certificate_and_verdict_hold(void **state)
{
    struct fixture f;
    struct unit_name unit;
    struct answer a;
    char drawn[128];

    (void)state;
    fixture_open(&f, NULL);
    unit = ADD(&f, "exchange", "model", "m", "complete", "1");
    ADD(&f, "frame_close", "epoch", "1", "end", "1", "n", "1", "seen", "1");
    (void)snprintf(drawn, sizeof drawn, "0,0,%s", unit.hex);
    ADD(&f, "draw", "epoch", "1", "drawn", drawn);
    ADD(&f, "verdict", "epoch", "1", "object", unit.hex, "verdict",
        "UNCHECKABLE", "class", "-", "reason", "deadline");
    ADD(&f, "certificate", "epoch", "1", "seen", "1", "drawn", "1",
        "uncheckable", "1", "confidence_ppm", "990000", "bound_ppm", "1000000");
    ADD(&f, "verdict", "epoch", "1", "object", unit.hex, "verdict", "MATCH",
        "class", "-", "tokens", "3");
    ADD(&f, "certificate", "epoch", "1", "seen", "1", "drawn", "1", "match",
        "1", "confidence_ppm", "990000", "bound_ppm", "0");
    fixture_commit(&f);
    a = fetch(&f.site, "/");
    assert_has(a, "<b class=\"good\">1 reproduced bit for bit</b>, <b>0 did "
                  "not</b>, <b>0 could not be checked</b>. All were drawn, so "
                  "this is a count and no estimate: <b>0</b> of 1 failed or "
                  "could not be checked.");
    assert_lacks(a, "confidence, at most");
    free(a.all);
    a = fetch(&f.site, "/exchanges?result=UNCHECKABLE");
    assert_has(a, "None.");
    free(a.all);
    a = fetch(&f.site, "/exchanges?result=MATCH");
    assert_has(a, "badge good");
    free(a.all);
    a = fetch(&f.site, "/mismatches");
    assert_has(a, "None.");
    free(a.all);
    fixture_close(&f);
}

static void mismatch_page_says_the_first_difference(void **state)
{
    struct world *w = *state;
    struct answer a = unit_page(state, &w->token);

    assert_int_equal(a.status, 200);
    assert_has(a, "Did not reproduce at <b>step 5 of 22</b>: recorded <code>"
                  "<bdi translate=\"no\">\xe2\x80\x9c\xe2\x90\xa3"
                  "cat\xe2\x80\x9d</bdi></code>, recomputed <code><bdi "
                  "translate=\"no\">\xe2\x80\x9c\xe2\x90\xa3"
                  "car\xe2\x80\x9d</bdi></code>.");
    assert_has(a, "<code>-0x1.0a41d2p+0</code> <code "
                  "class=\"dim\">bf8520e9</code>");
    assert_has(a, "<code>-0x1.0a0f9p+0</code> <code "
                  "class=\"dim\">bf8507c8</code>");
    assert_has(a, "3 of 22 tokens differ");
    assert_has(a, "2 of 2 repeats agree with each other");
    assert_has(a, "Counts as 1 MISMATCH.");
    free(a.all);
}

static void mismatch_page_shows_the_batch_at_that_step(void **state)
{
    struct world *w = *state;
    struct answer a = unit_page(state, &w->token);

    /* Prompt of 9: token 5 comes from position 13, the sixth pass. */
    assert_has(a, "Forward pass 105 of engine e0, 3 members, padded to 8");
    assert_has(a, "<code>chatcmpl-2</code><b> this request</b>");
    assert_has(a, "This request was in 8 forward passes, steps 100 to 107.");
    free(a.all);
    a = unit_page(state, &w->logprob);
    assert_has(a, "Forward pass 100 of engine e0");
    free(a.all);
    a = unit_page(state, &w->undrawn);
    assert_has(a, "No forward pass of the batch feed bears");
    free(a.all);
}

static void mismatch_page_shows_where_it_stands_in_the_log(void **state)
{
    struct world *w = *state;
    struct answer a = unit_page(state, &w->token);
    char leaf[160];

    (void)snprintf(leaf, sizeof leaf, "leaf 4, hash <code>%s</code>",
                   w->token.hex);
    assert_has(a, leaf);
    assert_has(a, "first under the checkpoint of 57 leaves. Signature checked "
                  "with the log&#39;s key: it holds.");
    assert_has(a, "number 2 of 8 drawn, place 3 in the frame");
    assert_has(a, "<a href=\"/assay/epochs/1\">1</a>");
    assert_has(a, "prover 1");
    (void)snprintf(leaf, sizeof leaf, "/jobs/1-%s.job --repeat 5",
                   w->token.hex);
    assert_has(a, leaf);
    free(a.all);
    /* What could not be run has no packet to run again. */
    a = unit_page(state, &w->uncheckable);
    assert_lacks(a, ".job");
    free(a.all);
}

static void a_forged_checkpoint_is_never_called_sealed(void **state)
{
    struct fixture f;
    struct unit_name unit;
    struct answer a;
    char path[96];

    (void)state;
    fixture_open(&f, NULL);
    fixture_seal(&f);
    unit = ADD(&f, "exchange", "model", "m");
    fixture_seal(&f);
    sqlite3_exec(f.db, "UPDATE checkpoint SET root = zeroblob(32)", NULL, NULL,
                 NULL);
    fixture_commit(&f);
    (void)snprintf(path, sizeof path, "/m/%s", unit.hex);
    a = fetch(&f.site, path);
    assert_has(a, "The signature does NOT hold");
    assert_lacks(a, "it holds");
    free(a.all);
    a = fetch(&f.site, "/log");
    assert_has(a, "The signature does NOT hold");
    free(a.all);
    fixture_close(&f);
}

static void each_verdict_has_its_sentence(void **state)
{
    struct world *w = *state;
    const struct {
        const struct unit_name *unit;
        const char *words;
    } cases[] = {
        {&w->match, "Reproduced bit for bit: 21 tokens and 21 log-prob"},
        {&w->logprob, "recomputed <code>-0x1.08b1fp-2</code>, 6 units in the "
                      "last place apart."},
        {&w->length, "One side ends where the other goes on, at <b>step 24 of "
                     "24</b>: recorded <span class=\"none\">nothing</span>, "
                     "recomputed <code>id 2</code>."},
        {&w->envelope, "what stands around them did not: "
                       "<code>usage.completion_tokens</code>"},
        {&w->unstable, "Our own repeats differ: 1 of 2 runs."},
        {&w->uncheckable, "Could not be checked: <code>no_metadata</code>. It "
                          "counts against the bound like a mismatch."},
        {&w->waiting, "Drawn in epoch 1 and not yet run again."},
        {&w->undrawn, "Seen and recorded; not drawn"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = unit_page(state, cases[i].unit);

        assert_int_equal(a.status, 200);
        assert_has(a, cases[i].words);
        free(a.all);
    }
}

static uint64_t rows_of(const struct answer *a)
{
    uint64_t n = 0;

    for (const char *p = a->body; (p = strstr(p, "\"seq\":")) != NULL; p++)
        n++;
    return n;
}

static void filters_narrow_the_list(void **state)
{
    static const struct {
        const char *query;
        uint64_t rows;
    } cases[] = {
        {"", 43},
        {"?model=smol", 10},
        {"?model=nobody", 0},
        {"?api=openai.chat&complete=0", 1},
        {"?complete=1", 42},
        {"?result=MATCH", 1},
        {"?result=MISMATCH", 4},
        {"?class=logprob", 1},
        {"?result=MISMATCH&class=token&model=llama", 1},
        {"?result=MISMATCH&class=token&model=smol", 0},
        {"?result=UNSTABLE", 1},
        {"?result=UNCHECKABLE", 1},
        {"?result=waiting", 1},
        {"?epoch=1", 40},
        {"?epoch=9", 0},
        {"?from=2026-11-29T12:00:10Z&to=2026-11-29T12:00:20Z", 10},
        {"?from=2026-11-29+12:00:50", 3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[128];
        struct answer a;

        (void)snprintf(path, sizeof path, "/exchanges.json%s", cases[i].query);
        a = page(state, path);
        assert_int_equal(a.status, 200);
        if (rows_of(&a) != cases[i].rows)
            fail_msg("%s: %lu rows", path, (unsigned long)rows_of(&a));
        free(a.all);
    }
}

static void pages_through_every_row_once(void **state)
{
    struct fixture f;
    char path[256] = "/exchanges";
    uint64_t seen = 0;

    (void)state;
    fixture_open(&f, NULL);
    for (int i = 0; i < 120; i++) /* many at the same time */
        ADD(&f, "exchange", "model", "m", "req_first_ns",
            i % 2 == 0 ? "1795953600000000000" : "1795953601000000000");
    fixture_commit(&f);
    for (int i = 0; i < 4; i++) {
        struct answer a = fetch(&f.site, path);
        const char *next = strstr(a.body, "rel=\"next\"");
        const char *after;

        for (const char *p = a.body; (p = strstr(p, "class=\"hash\"")); p++)
            seen++;
        if (next == NULL) {
            assert_int_equal(i, 2);
            free(a.all);
            break;
        }
        after = strstr(a.body, "after=");
        (void)snprintf(path, sizeof path, "/exchanges?%.38s", after);
        free(a.all);
    }
    assert_int_equal(seen, 120);
    fixture_close(&f);
}

static void lists_have_json_and_csv_twins(void **state)
{
    static const char *const lists[] = {
        "/exchanges", "/mismatches", "/findings", "/losses",
        "/unparsed",  "/epochs",     "/trail"};
    char path[64];

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct answer a;

        (void)snprintf(path, sizeof path, "%s.json", lists[i]);
        a = page(state, path);
        assert_int_equal(a.status, 200);
        assert_string_equal(answer_field(&a, "Content-Type"),
                            "application/json");
        assert_has(a, "\"schema\": \"assay.list/1\"");
        free(a.all);
        (void)snprintf(path, sizeof path, "%s.csv", lists[i]);
        a = page(state, path);
        assert_int_equal(a.status, 200);
        assert_non_null(
            strstr(answer_field(&a, "Content-Disposition"), "attachment"));
        assert_has(a, "\r\n# rows=");
        free(a.all);
    }
}

static void csv_cells_are_no_formulas(void **state)
{
    struct fixture f;
    struct answer a;

    (void)state;
    fixture_open(&f, NULL);
    ADD(&f, "exchange", "model", "=1+1", "api", "@x\"y");
    ADD(&f, "exchange", "model", "-2", "api", "+3");
    fixture_commit(&f);
    a = fetch(&f.site, "/exchanges.csv");
    assert_has(a, ",\"'=1+1\",\"'@x\"\"y\",");
    assert_has(a, ",\"'-2\",\"'+3\",");
    free(a.all);
    fixture_close(&f);
}

static void csv_carries_time_as_text_and_number(void **state)
{
    struct answer a = page(state, "/exchanges.csv?result=MATCH");

    assert_has(a, "seq,unit,seen,seen_ns,model");
    assert_has(a, ",2026-11-29T12:00:01.000000000Z,1795953601000000000,");
    free(a.all);
}

static void unit_as_json_holds_its_records(void **state)
{
    struct world *w = *state;
    char path[128];
    struct answer a;

    (void)snprintf(path, sizeof path, "/m/%s.json", w->token.hex);
    a = page(state, path);
    assert_int_equal(a.status, 200);
    assert_has(a, "\"schema\": \"assay.unit/1\"");
    assert_has(a, "\"claimed_bits\": \"bf8520e9\"");
    assert_has(a, w->token_verdict.hex);
    free(a.all);
}

static void epoch_page_shows_the_draw_from_seal_to_seed(void **state)
{
    struct answer a = page(state, "/epochs/1");

    assert_int_equal(a.status, 200);
    assert_has(a, "2. The seal");
    assert_has(a, "verifier");
    assert_has(a, "assay-seed/v1\nepoch 1\n");
    assert_has(a, "MISMATCH token");
    assert_has(a, "with 99" NB "% confidence at most 39 of 40 requests would "
                  "not pass");
    free(a.all);
}

static void findings_and_losses_have_their_pages(void **state)
{
    struct answer a = page(state, "/findings");

    assert_has(a, "no batch element names it");
    assert_has(a, "no such request");
    free(a.all);
    a = page(state, "/coverage");
    assert_has(a, "Of 48" NB "211 payload bytes in the newest 1 "
                  "interval of capture, 47" NB "000 stand in exchanges (97.5" NB
                  "%)");
    assert_has(a, "not_http");
    free(a.all);
    a = page(state, "/losses?cause=feed_gap");
    assert_has(a, "feed_gap");
    assert_lacks(a, "1" NB "448</td>");
    free(a.all);
}

static void log_page_shows_the_note(void **state)
{
    struct answer a = page(state, "/log");

    assert_has(a, "Signature checked with the log&#39;s key: it holds.");
    assert_has(a, "assay.test/log\n73\n");
    assert_has(a, "\xe2\x80\x94 assay.test/log ");
    free(a.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overview_leads_with_the_certificate),
        cmocka_unit_test(overview_gives_every_number_its_denominator),
        cmocka_unit_test(silence_is_an_alarm),
        cmocka_unit_test(a_quiet_tap_is_worth_a_sign),
        cmocka_unit_test(nothing_of_nothing_is_certified_in_words),
        cmocka_unit_test(says_what_is_not_certified_yet),
        cmocka_unit_test(newest_certificate_and_verdict_hold),
        cmocka_unit_test(mismatch_page_says_the_first_difference),
        cmocka_unit_test(mismatch_page_shows_the_batch_at_that_step),
        cmocka_unit_test(mismatch_page_shows_where_it_stands_in_the_log),
        cmocka_unit_test(a_forged_checkpoint_is_never_called_sealed),
        cmocka_unit_test(each_verdict_has_its_sentence),
        cmocka_unit_test(filters_narrow_the_list),
        cmocka_unit_test(pages_through_every_row_once),
        cmocka_unit_test(lists_have_json_and_csv_twins),
        cmocka_unit_test(csv_cells_are_no_formulas),
        cmocka_unit_test(csv_carries_time_as_text_and_number),
        cmocka_unit_test(unit_as_json_holds_its_records),
        cmocka_unit_test(epoch_page_shows_the_draw_from_seal_to_seed),
        cmocka_unit_test(findings_and_losses_have_their_pages),
        cmocka_unit_test(log_page_shows_the_note),
    };

    return cmocka_run_group_tests(tests, open_world, close_world);
}
