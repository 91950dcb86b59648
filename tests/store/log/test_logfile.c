/*
 * test_logfile.c - the log on disk: what was committed is read back; a torn
 * tail is cut; bytes that were vouched for and are gone are not forgiven.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "log/logfile.h"
#include "scratch.h"
#include "store/layout.h"
#include "store/leaflog.h"

enum { LEAVES = 50, FILE_MAX = 1 << 20 };

static uint8_t file[FILE_MAX];

static struct logfile *open_with(const char *dir,
                                 const struct merkle_head *heads, size_t n,
                                 struct log_report *report)
{
    struct logfile *l;

    assert_int_equal(logfile_open(dir, heads, n, &l, report), 0);
    return l;
}

static struct logfile *open_log(const char *dir)
{
    struct log_report report;

    return open_with(dir, NULL, 0, &report);
}

static void add(struct logfile *l, unsigned i)
{
    uint8_t unit[MERKLE_HASH];
    char leaf[64];

    snprintf(leaf, sizeof(leaf), "leaf %u %.*s\n", i, (int)(i % 30),
             "..............................");
    assert_int_equal(logfile_append(l, span_str(leaf), unit), 0);
}

/* n leaves in batches of seven; the head after each batch goes out. */
static struct merkle_head write_log(const char *dir, unsigned n)
{
    struct logfile *l = open_log(dir);
    struct merkle_head head;

    for (unsigned i = 0; i < n; i++) {
        add(l, i);
        if (i % 7 == 6)
            assert_int_equal(logfile_commit(l), 0);
    }
    assert_int_equal(logfile_commit(l), 0);
    head = logfile_head(l);
    logfile_close(l);
    return head;
}

static void read_all(const char *dir, unsigned n)
{
    struct leaflog *l;
    struct leaf leaf;
    char text[64];

    assert_int_equal(leaflog_open(dir, &l), 0);
    assert_int_equal(leaflog_count(l), n);
    for (unsigned i = 0; i < n; i++) {
        unsigned seq = (i * 17) % n;

        assert_int_equal(leaflog_read(l, seq, &leaf), 0);
        snprintf(text, sizeof(text), "leaf %u ", seq);
        assert_memory_equal(leaf.bytes.p, text, strlen(text));
    }
    assert_int_equal(leaflog_read(l, n, &leaf), -ENOENT);
    leaflog_close(l);
}

static void reads_back_what_was_committed(void **state)
{
    struct merkle_head head = write_log(*state, LEAVES);
    struct log_report report;
    struct logfile *l;

    read_all(*state, LEAVES);
    l = open_with(*state, &head, 1, &report);
    assert_int_equal(report.cut_bytes, 0);
    assert_int_equal(logfile_count(l), LEAVES);
    assert_memory_equal(&(struct merkle_head[1]){logfile_head(l)}, &head,
                        sizeof(head));
    logfile_close(l);
}

static void a_leaf_is_invisible_until_its_batch_is_committed(void **state)
{
    struct logfile *l = open_log(*state);

    add(l, 0);
    assert_int_equal(logfile_commit(l), 0);
    add(l, 1);
    assert_int_equal(logfile_next(l), 2);
    assert_int_equal(logfile_count(l), 1);
    read_all(*state, 1);
    logfile_abandon(l);
    add(l, 1);
    assert_int_equal(logfile_commit(l), 0);
    logfile_close(l);
    read_all(*state, 2);
}

/* Every length of a frame that was written and never acknowledged. */
static void cuts_every_torn_tail(void **state)
{
    size_t whole, frame;

    write_log(*state, LEAVES);
    whole = scratch_size(*state, LAYOUT_LEAVES);
    write_log(*state, 1);
    frame = scratch_size(*state, LAYOUT_LEAVES);
    assert_int_equal(scratch_read(*state, LAYOUT_LEAVES, file, FILE_MAX),
                     frame);
    for (size_t n = whole; n < frame; n++) {
        struct log_report report;
        struct logfile *l;

        scratch_write(*state, LAYOUT_LEAVES, file, n);
        /* Its offset was not yet written. */
        scratch_cut(*state, LAYOUT_OFFSETS, 8 * LEAVES);
        l = open_with(*state, NULL, 0, &report);
        assert_int_equal(report.cut_bytes, n - whole);
        assert_int_equal(logfile_count(l), LEAVES);
        logfile_close(l);
        assert_int_equal(scratch_size(*state, LAYOUT_LEAVES), whole);
        read_all(*state, LEAVES);
    }
}

static void zeros_and_noise_behind_the_end_are_cut(void **state)
{
    size_t whole;

    write_log(*state, LEAVES);
    whole = scratch_size(*state, LAYOUT_LEAVES);
    for (int noise = 0; noise < 256; noise += 51) {
        struct log_report report;
        struct logfile *l;

        scratch_read(*state, LAYOUT_LEAVES, file, FILE_MAX);
        memset(file + whole, noise, 5000);
        scratch_write(*state, LAYOUT_LEAVES, file, whole + 5000);
        l = open_with(*state, NULL, 0, &report);
        assert_int_equal(report.cut_bytes, 5000);
        logfile_close(l);
        read_all(*state, LEAVES);
    }
}

static void assert_refused(const char *dir, const struct merkle_head *heads,
                           size_t n, uint64_t lost_from)
{
    size_t before = scratch_size(dir, LAYOUT_LEAVES);
    struct log_report report;
    struct logfile *l;

    assert_int_equal(logfile_open(dir, heads, n, &l, &report), -ENODATA);
    assert_int_equal(report.lost_from, lost_from);
    assert_non_null(report.why);
    assert_int_equal(scratch_size(dir, LAYOUT_LEAVES), before);
}

static void refuses_a_log_cut_below_its_checkpoint(void **state)
{
    struct merkle_head head = write_log(*state, LEAVES);
    size_t whole = scratch_size(*state, LAYOUT_LEAVES);

    scratch_read(*state, LAYOUT_LEAVES, file, FILE_MAX);
    scratch_write(*state, LAYOUT_OFFSETS, NULL, 0);
    for (size_t cut = 1; cut < 80; cut += 13) {
        scratch_write(*state, LAYOUT_LEAVES, file, whole - cut);
        assert_refused(*state, &head, 1, cut <= 64 ? LEAVES - 1 : LEAVES - 2);
    }
    scratch_write(*state, LAYOUT_LEAVES, file, 0);
    assert_refused(*state, &head, 1, 0);
}

static void refuses_a_log_cut_below_its_offsets(void **state)
{
    size_t whole;

    write_log(*state, LEAVES);
    whole = scratch_size(*state, LAYOUT_LEAVES);
    scratch_cut(*state, LAYOUT_LEAVES, whole - 1);
    assert_refused(*state, NULL, 0, LEAVES - 1);
}

static void refuses_a_changed_byte_wherever_it_is(void **state)
{
    struct merkle_head head = write_log(*state, LEAVES);
    size_t whole = scratch_read(*state, LAYOUT_LEAVES, file, FILE_MAX);

    for (size_t at = 0; at < whole; at += 97) {
        struct log_report report;
        struct logfile *l;

        file[at] ^= 4;
        scratch_write(*state, LAYOUT_LEAVES, file, whole);
        assert_int_equal(logfile_open(*state, &head, 1, &l, &report), -ENODATA);
        file[at] ^= 4;
    }
}

static void refuses_a_leaf_changed_together_with_its_hash(void **state)
{
    struct merkle_head head = write_log(*state, LEAVES);
    size_t whole = scratch_read(*state, LAYOUT_LEAVES, file, FILE_MAX);

    file[LOG_LENGTH_BYTES] = 'L';
    merkle_leaf(span_of(file + LOG_LENGTH_BYTES, file[3]),
                file + LOG_LENGTH_BYTES + file[3]);
    scratch_write(*state, LAYOUT_LEAVES, file, whole);
    assert_refused(*state, &head, 1, 0);
}

static void every_signed_head_is_held_against_the_log(void **state)
{
    struct merkle_head heads[3] = {write_log(*state, 7)};
    struct log_report report;
    struct logfile *l;

    heads[1] = write_log(*state, 7);
    heads[2] = write_log(*state, 7);
    assert_int_equal(heads[2].size, 21);
    logfile_close(open_with(*state, heads, 3, &report));
    heads[1].root[7] ^= 1;
    assert_int_equal(logfile_open(*state, heads, 3, &l, &report), -ENODATA);
    assert_int_equal(report.lost_from, 7);
}

static void offsets_are_made_again(void **state)
{
    uint8_t good[8 * LEAVES], now[8 * LEAVES];

    write_log(*state, LEAVES);
    assert_int_equal(scratch_read(*state, LAYOUT_OFFSETS, good, sizeof(good)),
                     sizeof(good));
    for (size_t n = 0; n <= sizeof(good); n += 36) {
        memcpy(now, good, sizeof(good));
        memset(now + n / 2, 0, (sizeof(good) - n) / 2);
        scratch_write(*state, LAYOUT_OFFSETS, now, n);
        logfile_close(open_log(*state));
        assert_int_equal(scratch_read(*state, LAYOUT_OFFSETS, now, sizeof(now)),
                         sizeof(now));
        assert_memory_equal(now, good, sizeof(good));
    }
    read_all(*state, LEAVES);
}

/* A file size limit is a full disk that a test can have anywhere. */
static void a_full_disk_refuses_the_batch_and_keeps_the_rest(void **state)
{
    struct rlimit old, limit;
    struct logfile *l;
    size_t whole;
    int rc = 0;

    write_log(*state, LEAVES);
    whole = scratch_size(*state, LAYOUT_LEAVES);
    l = open_log(*state);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){whole + 100, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned i = 0; i < 5; i++)
        add(l, LEAVES + i);
    rc = logfile_commit(l);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(logfile_next(l), LEAVES);
    assert_int_equal(scratch_size(*state, LAYOUT_LEAVES), whole);
    add(l, LEAVES);
    assert_int_equal(logfile_commit(l), 0);
    logfile_close(l);
    read_all(*state, LEAVES + 1);
}

static void reading_sees_damage(void **state)
{
    struct leaflog *l;
    struct leaf leaf;
    size_t whole;

    write_log(*state, 3);
    whole = scratch_read(*state, LAYOUT_LEAVES, file, FILE_MAX);
    file[whole - 40] ^= 1;
    scratch_write(*state, LAYOUT_LEAVES, file, whole);
    assert_int_equal(leaflog_open(*state, &l), 0);
    assert_int_equal(leaflog_read(l, 1, &leaf), 0);
    assert_int_equal(leaflog_read(l, 2, &leaf), -EBADMSG);
    leaflog_close(l);
    assert_int_equal(leaflog_open("/nonexistent", &l), -ENOENT);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        TEST(reads_back_what_was_committed),
        TEST(a_leaf_is_invisible_until_its_batch_is_committed),
        TEST(cuts_every_torn_tail),
        TEST(zeros_and_noise_behind_the_end_are_cut),
        TEST(refuses_a_log_cut_below_its_checkpoint),
        TEST(refuses_a_log_cut_below_its_offsets),
        TEST(refuses_a_changed_byte_wherever_it_is),
        TEST(refuses_a_leaf_changed_together_with_its_hash),
        TEST(every_signed_head_is_held_against_the_log),
        TEST(offsets_are_made_again),
        TEST(a_full_disk_refuses_the_batch_and_keeps_the_rest),
        TEST(reading_sees_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
