/*
 * test_ledger.c - log, vault and index as one: what is acknowledged is there
 * after any stop, the index can be made again, and what is missing is said.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon_run.h"
#include "ledger/ledger.h"
#include "scratch.h"
#include "store/index.h"
#include "store/layout.h"
#include "store/note.h"
#include "tables.h"
#include "vault/keys.h"

static const struct keys keys = {{1}, {2}, {3}};
static uint8_t file[1 << 21];

static struct ledger_config config_of(const char *dir)
{
    return (struct ledger_config){
        .state_dir = dir, .origin = "test.example/log", .keys = &keys};
}

static int try_open(const char *dir, struct ledger **ret_l,
                    struct ledger_start *s)
{
    struct ledger_config config = config_of(dir);

    return ledger_open(&config, ret_l, s);
}

static struct ledger *open_ledger(const char *dir)
{
    struct ledger_start start;
    struct ledger *l;
    int rc = try_open(dir, &l, &start);

    if (rc != 0)
        print_message("%s\n", start.why);
    assert_int_equal(rc, 0);
    return l;
}

static void assert_refused(const char *dir, int code, const char *word)
{
    struct ledger_start start;
    struct ledger *l;

    assert_int_equal(try_open(dir, &l, &start), code);
    if (strstr(start.why, word) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", start.why, word);
}

static int put_one(struct ledger *l, unsigned n, struct span req,
                   struct ledger_ack *ack)
{
    struct ledger_payload payloads[] = {{span_str("req"), req},
                                        {span_str("resp"), span_str("pong")}};
    struct record r;
    struct ledger_put p = {kind_find("exchange"), {NULL, 0}, payloads, 2};
    const char *why;

    sample_exchange(&r, n);
    p.body = span_of(r.text, r.n);
    return ledger_put(l, &p, ack, &why);
}

static void follow(struct ledger *l)
{
    bool more = true;

    while (more)
        assert_int_equal(ledger_follow(l, 10, &more), 0);
}

/* n exchanges in batches of five, and a checkpoint in the middle. */
static void fill(struct ledger *l, unsigned n)
{
    char note[LEDGER_NOTE];
    struct ledger_ack ack;

    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(put_one(l, i, span_str("ping"), &ack), 0);
        if (i % 5 == 4)
            assert_int_equal(ledger_commit(l), 0);
        if (i == n / 2) {
            assert_int_equal(ledger_commit(l), 0);
            follow(l);
            assert_int_equal(ledger_checkpoint(l, note), 0);
        }
    }
    assert_int_equal(ledger_commit(l), 0);
}

static void assert_payload(struct ledger *l, uint64_t seq, const char *name,
                           struct span expected)
{
    uint8_t *bytes;
    size_t n;

    assert_int_equal(ledger_payload(l, seq, name, &bytes, &n), 0);
    assert_true(span_eq(span_of(bytes, n), expected));
    free(bytes);
}

static struct path index_of(const char *dir)
{
    return layout_path(dir, LAYOUT_INDEX);
}

/* The index as it stands beside one made from log and vault. */
static void assert_rebuilds_equal(const char *dir)
{
    struct ledger_config config = config_of(dir);
    struct path kept = layout_path(dir, "kept.db");
    struct ledger_start start;

    assert_int_equal(tables_keep(index_of(dir).text, kept.text), 0);
    assert_int_equal(ledger_rebuild(&config, &start), 0);
    assert_int_equal(tables_differ(kept.text, index_of(dir).text), 0);
    assert_int_equal(unlink(kept.text), 0);
}

static void a_new_store_begins_with_genesis_and_boot(void **state)
{
    ledger_close(open_ledger(*state), true);
    ledger_close(open_ledger(*state), true);
    ledger_close(open_ledger(*state), false);
    ledger_close(open_ledger(*state), true);
    assert_int_equal(
        tables_query(index_of(*state).text, "SELECT seq FROM genesis"), 0);
    assert_int_equal(
        tables_query(index_of(*state).text, "SELECT count(*) FROM boot"), 4);
    /* Only the stop before the fourth start was not clean. */
    assert_int_equal(tables_query(index_of(*state).text,
                                  "SELECT min(seq) FROM boot WHERE clean=0"),
                     4);
    assert_int_equal(tables_query(index_of(*state).text,
                                  "SELECT count(*) FROM boot WHERE clean=0"),
                     1);
}

static void records_and_payloads_are_there_after_a_stop(void **state)
{
    struct ledger *l = open_ledger(*state);
    const struct kind *kind;
    struct leaf leaf;
    uint64_t seq;

    fill(l, 23);
    ledger_close(l, false);
    l = open_ledger(*state);
    assert_int_equal(ledger_leaf(l, 24, &leaf), 0);
    assert_int_equal(ledger_find(l, leaf.unit, &seq, &kind), 0);
    assert_int_equal(seq, 24);
    assert_string_equal(kind->name, "exchange");
    for (seq = 2; seq < 25; seq++) {
        assert_payload(l, seq, "req", span_str("ping"));
        assert_payload(l, seq, "resp", span_str("pong"));
    }
    ledger_close(l, true);
    assert_rebuilds_equal(*state);
}

static void the_index_says_what_the_leaf_says(void **state)
{
    struct ledger *l = open_ledger(*state);
    const char *db = index_of(*state).text;
    sqlite3 *ro;

    fill(l, 3);
    follow(l);
    assert_int_equal(index_open_readonly(*state, &ro), 0);
    assert_int_equal(sqlite3_exec(ro, "DELETE FROM exchange", 0, 0, 0),
                     SQLITE_READONLY);
    sqlite3_close(ro);
    assert_int_equal(
        tables_query(db, "SELECT count(*) FROM exchange WHERE "
                         "model='stories260k' AND status=200 AND "
                         "cause='' AND length(unit)=32 AND req_len=4 AND "
                         "length(req_commit)=32 AND req_map_len IS NULL"),
        3);
    assert_int_equal(tables_query(db, "SELECT stream FROM exchange WHERE "
                                      "api_id='chatcmpl-00000002'"),
                     2);
    ledger_close(l, true);
}

static void many_keys_have_rows_of_their_own(void **state)
{
    struct ledger *l = open_ledger(*state);
    const char *db = index_of(*state).text;
    struct record r;
    struct ledger_put p = {.kind = kind_find("batch_step")};
    struct ledger_ack ack;
    const char *why;

    record_init(&r);
    record_text(&r, "tap", span_str("t"));
    record_text(&r, "engine", span_str("e"));
    record_text(&r, "feed", span_str("f"));
    record_text(&r, "names", span_str("answers"));
    record_u64(&r, "feed_seq", 0);
    record_u64(&r, "step", 1);
    record_u64(&r, "step_ns", 2);
    record_u64(&r, "padded", 0);
    record_u64(&r, "part", 0);
    record_u64(&r, "parts", 1);
    for (unsigned i = 0; i < 3; i++) {
        record_begin(&r, "member");
        record_add_text(&r, span_of("a,b", i + 1));
        for (unsigned j = 0; j < 5; j++)
            record_add_u64(&r, i * 10 + j);
        record_add_hex(&r, span_of("\x01\x02", i));
        record_end(&r);
    }
    record_text(&r, "op", span_str("R 0 5"));
    p.body = span_of(r.text, r.n);
    assert_int_equal(ledger_put(l, &p, &ack, &why), 0);
    assert_int_equal(ledger_commit(l), 0);
    follow(l);
    ledger_close(l, true);
    assert_int_equal(tables_query(db, "SELECT count(*) FROM batch_step_member"),
                     3);
    assert_int_equal(
        tables_query(db, "SELECT prompt_n FROM batch_step_member WHERE "
                         "request='a,b' AND pos=2 AND prompt_digest=x'0102'"),
        24);
    assert_int_equal(tables_query(db, "SELECT count(*) FROM batch_step_op "
                                      "WHERE value='R 0 5'"),
                     1);
    assert_rebuilds_equal(*state);
}

static void what_breaks_the_grammar_is_refused_alone(void **state)
{
    struct ledger_payload swapped[] = {{span_str("resp"), span_str("a")},
                                       {span_str("req"), span_str("b")}};
    struct ledger_payload foreign[] = {{span_str("other"), span_str("a")}};
    struct ledger *l = open_ledger(*state);
    struct ledger_ack first, ack;
    struct record r;
    struct ledger_put p = {kind_find("exchange"), {NULL, 0}, swapped, 2};
    const char *why = NULL;

    assert_int_equal(put_one(l, 0, span_str("ping"), &first), 0);
    sample_exchange(&r, 1);
    p.body = span_of(r.text, r.n);
    assert_int_equal(ledger_put(l, &p, &ack, &why), -EINVAL);
    assert_non_null(why);
    p.payloads = foreign;
    p.n_payloads = 1;
    assert_int_equal(ledger_put(l, &p, &ack, &why), -EINVAL);
    p.n_payloads = 0;
    p.body.n--;
    assert_int_equal(ledger_put(l, &p, &ack, &why), -EINVAL);
    p.kind = kind_find("loss");
    p.body.n++;
    assert_int_equal(ledger_put(l, &p, &ack, &why), -EINVAL);
    assert_int_equal(put_one(l, 1, span_str("ping"), &ack), 0);
    assert_int_equal(ack.seq, first.seq + 1);
    assert_int_equal(ledger_commit(l), 0);
    follow(l);
    assert_payload(l, ack.seq, "req", span_str("ping"));
    ledger_close(l, true);
}

static void a_second_store_is_turned_away(void **state)
{
    struct ledger *l = open_ledger(*state);

    assert_refused(*state, -EAGAIN, "another store runs");
    ledger_close(l, true);
}

static void a_lost_tail_is_not_forgiven(void **state)
{
    struct ledger *l = open_ledger(*state);
    char note[LEDGER_NOTE];
    size_t n;

    fill(l, 20);
    follow(l);
    assert_int_equal(ledger_checkpoint(l, note), 0);
    ledger_close(l, true);
    n = scratch_size(*state, LAYOUT_LEAVES);
    scratch_read(*state, LAYOUT_LEAVES, file, n);
    scratch_cut(*state, LAYOUT_LEAVES, n - 100);
    assert_refused(*state, -ENODATA, "TAIL_LOST");
    scratch_write(*state, LAYOUT_OFFSETS, NULL, 0);
    assert_refused(*state, -ENODATA, "TAIL_LOST");
    scratch_write(*state, LAYOUT_LEAVES, file, n);
    ledger_close(open_ledger(*state), true);
}

/* No checkpoint and no offsets: the index still remembers. */
static void an_index_ahead_of_the_log_is_a_lost_tail(void **state)
{
    struct ledger *l = open_ledger(*state);
    size_t n;

    fill(l, 3);
    ledger_close(l, true);
    n = scratch_size(*state, LAYOUT_LEAVES);
    l = open_ledger(*state);
    ledger_close(l, true);
    scratch_cut(*state, LAYOUT_LEAVES, n);
    scratch_write(*state, LAYOUT_OFFSETS, NULL, 0);
    assert_refused(*state, -ENODATA, "TAIL_LOST");
}

static void a_foreign_checkpoint_stops_the_start(void **state)
{
    static const char text[] = "test.example/log\n1\nAAAA\n";
    struct ledger *l = open_ledger(*state);
    char note[LEDGER_NOTE];
    size_t n;

    assert_int_equal(ledger_checkpoint(l, note), 0);
    ledger_close(l, true);
    n = scratch_read(*state, "checkpoints/2", file, sizeof(file));
    assert_int_equal(n, strlen(note));
    assert_memory_equal(file, note, n);
    scratch_write(*state, "checkpoints/1", (const uint8_t *)text, strlen(text));
    assert_refused(*state, -EBADMSG, "checkpoints/1");
    scratch_write(*state, "checkpoints/1", file, n);
    assert_refused(*state, -EBADMSG, "checkpoints/1");
    file[20] ^= 1;
    assert_int_equal(unlink(layout_path(*state, "checkpoints/1").text), 0);
    scratch_write(*state, "checkpoints/2", file, n);
    assert_refused(*state, -EBADMSG, "checkpoints/2");
}

static void an_intent_binds_after_a_crash(void **state)
{
    struct ledger *l = open_ledger(*state);
    char note[LEDGER_NOTE], *end;

    assert_int_equal(ledger_checkpoint(l, note), 0);
    ledger_close(l, true);
    /* As if the crash came before the note was written. */
    assert_int_equal(unlink(layout_path(*state, "checkpoints/2").text), 0);
    end = strstr(note, "\n\n");
    scratch_write(*state, "checkpoints/2.intent", (const uint8_t *)note,
                  (size_t)(end - note) + 1);
    ledger_close(open_ledger(*state), true);
    assert_int_equal(scratch_read(*state, "checkpoints/2", file, sizeof(file)),
                     strlen(note));
    assert_memory_equal(file, note, strlen(note));
    /* An intent of another root for a size that is ours is not obeyed. */
    assert_int_equal(unlink(layout_path(*state, "checkpoints/2").text), 0);
    note[20] = note[20] == 'A' ? 'B' : 'A';
    scratch_write(*state, "checkpoints/2.intent", (const uint8_t *)note,
                  (size_t)(end - note) + 1);
    assert_refused(*state, -ENODATA, "TAIL_LOST");
}

static void a_checkpoint_verifies_and_does_not_change(void **state)
{
    struct ledger *l = open_ledger(*state);
    char first[LEDGER_NOTE], again[LEDGER_NOTE];
    struct note_signer *s;
    struct note_seals seals;
    struct checkpoint c;
    struct span text;

    fill(l, 5);
    follow(l);
    assert_int_equal(ledger_checkpoint(l, first), 0);
    assert_int_equal(ledger_unsigned(l), 0);
    assert_int_equal(ledger_checkpoint(l, again), 0);
    assert_string_equal(first, again);
    assert_int_equal(note_signer_open("test.example/log", keys.log, &s), 0);
    assert_int_equal(
        note_open(span_str(first), note_signer_key(s), 1, &text, &seals),
        NOTE_GOOD);
    assert_int_equal(checkpoint_parse(text, &c), PARSE_OK);
    assert_int_equal(c.head.size, 7);
    note_signer_close(s);
    ledger_close(l, true);
}

/* Memory says one thing, the disk another: nothing is signed. */
static void leaves_that_changed_on_disk_are_not_signed(void **state)
{
    struct ledger *l = open_ledger(*state);
    char note[LEDGER_NOTE];
    size_t n;

    fill(l, 1);
    n = scratch_read(*state, LAYOUT_LEAVES, file, sizeof(file));
    assert_int_equal(put_one(l, 9, span_str("x"), &(struct ledger_ack){0}), 0);
    assert_int_equal(ledger_commit(l), 0);
    n = scratch_read(*state, LAYOUT_LEAVES, file, sizeof(file));
    file[n - 50] ^= 1;
    scratch_write(*state, LAYOUT_LEAVES, file, n);
    assert_int_equal(ledger_checkpoint(l, note), -EBADMSG);
    ledger_close(l, false);
}

static void a_missing_or_broken_index_is_made_again(void **state)
{
    static const char *const wal = LAYOUT_INDEX "-wal";
    struct ledger *l = open_ledger(*state);
    size_t n;

    fill(l, 30);
    follow(l);
    ledger_close(l, false);
    n = scratch_size(*state, wal);
    for (size_t cut = 0; cut < n; cut += n / 5) {
        scratch_cut(*state, wal, n - cut);
        ledger_close(open_ledger(*state), false);
        assert_rebuilds_equal(*state);
        l = open_ledger(*state);
        follow(l);
        ledger_close(l, false);
        n = scratch_size(*state, wal);
    }
    scratch_write(*state, LAYOUT_INDEX, (const uint8_t *)"no database here",
                  16);
    ledger_close(open_ledger(*state), true);
    assert_rebuilds_equal(*state);
    assert_int_equal(unlink(index_of(*state).text), 0);
    ledger_close(open_ledger(*state), true);
    assert_rebuilds_equal(*state);
}

static void an_index_of_other_tables_is_made_again(void **state)
{
    struct ledger *l = open_ledger(*state);
    sqlite3 *db;

    fill(l, 4);
    ledger_close(l, true);
    assert_int_equal(sqlite3_open(index_of(*state).text, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "ALTER TABLE exchange ADD COLUMN old TEXT", 0, 0, 0),
        SQLITE_OK);
    sqlite3_close(db);
    ledger_close(open_ledger(*state), true);
    assert_int_equal(
        tables_query(index_of(*state).text,
                     "SELECT count(*) FROM pragma_table_info('exchange') "
                     "WHERE name='old'"),
        0);
}

static void lost_payloads_are_counted_and_named(void **state)
{
    struct ledger *l = open_ledger(*state);
    struct ledger_start start;
    uint8_t *bytes;
    size_t n;

    fill(l, 10);
    ledger_close(l, true);
    n = scratch_size(*state, LAYOUT_PAYLOADS);
    scratch_cut(*state, LAYOUT_PAYLOADS, n - 1); /* the last resp */
    assert_int_equal(try_open(*state, &l, &start), 0);
    assert_int_equal(start.lost, 1);
    assert_int_equal(ledger_payload(l, 11, "resp", &bytes, &n), -ENODATA);
    assert_int_equal(ledger_payload(l, 11, "resp_body", &bytes, &n), -ENOENT);
    assert_payload(l, 11, "req", span_str("ping"));
    /* What comes after it is found again. */
    fill(l, 2);
    follow(l);
    assert_payload(l, 13, "resp", span_str("pong"));
    ledger_close(l, true);
    assert_rebuilds_equal(*state);
    scratch_cut(*state, LAYOUT_PAYLOADS, 0);
    assert_int_equal(try_open(*state, &l, &start), 0);
    assert_int_equal(start.lost, 24);
    ledger_close(l, true);
    assert_rebuilds_equal(*state);
}

/* A crash between the vault's sync and the log's leaves entries without a
 * leaf; the leaves that come then take their numbers. */
static void payloads_without_a_leaf_are_cut(void **state)
{
    struct ledger *l = open_ledger(*state);
    size_t leaves, payloads, offsets;
    struct ledger_ack ack;

    fill(l, 5);
    leaves = scratch_size(*state, LAYOUT_LEAVES);
    offsets = scratch_size(*state, LAYOUT_OFFSETS);
    payloads = scratch_size(*state, LAYOUT_PAYLOADS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(put_one(l, 50 + i, span_str("orphan"), &ack), 0);
    assert_int_equal(ledger_commit(l), 0);
    ledger_close(l, false);
    scratch_cut(*state, LAYOUT_LEAVES, leaves);
    scratch_cut(*state, LAYOUT_OFFSETS, offsets);
    l = open_ledger(*state);
    assert_int_equal(scratch_size(*state, LAYOUT_PAYLOADS), payloads);
    assert_int_equal(put_one(l, 60, span_str("real"), &ack), 0);
    assert_int_equal(ledger_commit(l), 0);
    follow(l);
    assert_payload(l, ack.seq, "req", span_str("real"));
    ledger_close(l, true);
    assert_rebuilds_equal(*state);
}

/* Limits the size of any file while a batch is committed. */
static int commit_limited(struct ledger *l, rlim_t bytes, unsigned n,
                          struct span req)
{
    struct rlimit old, limit;
    struct ledger_ack ack;
    int rc = 0, committed;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){bytes, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = put_one(l, 100 + i, req, &ack);
    committed = ledger_commit(l);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    if (rc != 0)
        assert_int_equal(committed, rc);
    return committed;
}

static void a_full_disk_refuses_a_batch_as_a_whole(void **state)
{
    static uint8_t big[1 << 20];
    struct ledger *l = open_ledger(*state);
    size_t leaves, payloads;
    struct ledger_ack ack;

    fill(l, 7);
    leaves = scratch_size(*state, LAYOUT_LEAVES);
    payloads = scratch_size(*state, LAYOUT_PAYLOADS);
    /* The vault is full. */
    assert_int_equal(commit_limited(l, 500000, 3, span_of(big, sizeof(big))),
                     -EFBIG);
    assert_int_equal(scratch_size(*state, LAYOUT_LEAVES), leaves);
    assert_int_equal(scratch_size(*state, LAYOUT_PAYLOADS), payloads);
    /* The log is full, the vault not yet. */
    assert_true(payloads + 3000 < leaves + 1000);
    assert_int_equal(commit_limited(l, leaves + 1000, 5, span_str("x")),
                     -EFBIG);
    assert_int_equal(scratch_size(*state, LAYOUT_LEAVES), leaves);
    assert_int_equal(scratch_size(*state, LAYOUT_PAYLOADS), payloads);
    assert_int_equal(put_one(l, 7, span_str("after"), &ack), 0);
    assert_int_equal(ack.seq, 9);
    assert_int_equal(ledger_commit(l), 0);
    follow(l);
    assert_payload(l, 9, "req", span_str("after"));
    ledger_close(l, false);
    l = open_ledger(*state);
    assert_payload(l, 9, "req", span_str("after"));
    ledger_close(l, true);
    assert_rebuilds_equal(*state);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_new_store_begins_with_genesis_and_boot),
        TEST(records_and_payloads_are_there_after_a_stop),
        TEST(the_index_says_what_the_leaf_says),
        TEST(many_keys_have_rows_of_their_own),
        TEST(what_breaks_the_grammar_is_refused_alone),
        TEST(a_second_store_is_turned_away),
        TEST(a_lost_tail_is_not_forgiven),
        TEST(an_index_ahead_of_the_log_is_a_lost_tail),
        TEST(a_foreign_checkpoint_stops_the_start),
        TEST(an_intent_binds_after_a_crash),
        TEST(a_checkpoint_verifies_and_does_not_change),
        TEST(leaves_that_changed_on_disk_are_not_signed),
        TEST(a_missing_or_broken_index_is_made_again),
        TEST(an_index_of_other_tables_is_made_again),
        TEST(lost_payloads_are_counted_and_named),
        TEST(payloads_without_a_leaf_are_cut),
        TEST(a_full_disk_refuses_a_batch_as_a_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
