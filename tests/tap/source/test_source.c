/*
 * test_source.c - capture files of every kind through libpcap, good and bad.
 * The files are made here, byte by byte.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/source.h"
#include "store/span.h"

enum { MAGIC_US = 0xa1b2c3d4, MAGIC_NS = 0xa1b23c4d, ETHERNET = 1 };

static struct {
    uint8_t p[65536];
    size_t n;
    bool big; /* byte order */
} file;
static char path[] = "/tmp/assay-test-source-XXXXXX";

static struct {
    struct frame frames[8];
    uint8_t first[8]; /* byte of each */
    size_t n;
    enum source_state state;
    struct source_stats stats;
    char why[300];
    char label[128];
} got;

static int make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        file.p[file.n++] = (uint8_t)(v >> 8 * (file.big ? n - 1 - i : i));
}

static void put_head(uint32_t magic, bool big, uint32_t snaplen, uint32_t link)
{
    file.n = 0;
    file.big = big;
    put(magic, 4);
    put(2, 2);
    put(4, 2);
    put(0, 8);
    put(snaplen, 4);
    put(link, 4);
}

static void put_packet(uint32_t sec, uint32_t part, uint32_t n, uint32_t wire_n)
{
    put(sec, 4);
    put(part, 4);
    put(n, 4);
    put(wire_n, 4);
    memset(file.p + file.n, 'x', n);
    file.n += n;
}

static void take(void *ctx, const struct frame *f, size_t n)
{
    (void)ctx;
    assert_true(n <= 8 - got.n);
    for (size_t i = 0; i < n; i++) {
        got.first[got.n] = f[i].n > 0 ? f[i].p[0] : 0;
        got.frames[got.n++] = f[i];
    }
}

/* Opens what was put; on success reads it all. */
static int read_named(const char *name, const char *filter)
{
    struct source_config c = {.file = name, .filter = filter};
    struct source *s;
    int rc;

    memset(&got, 0, sizeof(got));
    rc = source_open("pcap", &c, got.why, sizeof(got.why), &s);
    if (rc != 0)
        return rc;
    do
        got.state = source_read(s, 3, take, NULL);
    while (got.state == SOURCE_MORE);
    source_stats(s, &got.stats);
    (void)snprintf(got.why, sizeof(got.why), "%s", source_why(s));
    (void)snprintf(got.label, sizeof(got.label), "%s", source_label(s));
    assert_int_equal(source_fd(s), -1);
    assert_int_equal(source_read(s, 3, take, NULL), SOURCE_END);
    source_close(s);
    return 0;
}

static int read_file(const char *filter)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(file.p, 1, file.n, f), file.n);
    assert_int_equal(fclose(f), 0);
    return read_named(path, filter);
}

static void reads_both_units_in_both_byte_orders(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool ns = i & 1;

        put_head(ns ? MAGIC_NS : MAGIC_US, i & 2, 65535, ETHERNET);
        put_packet(1764417600, 123456, 60, 60);
        put_packet(1764417601, 0, 50, 50);
        assert_int_equal(read_file(NULL), 0);
        assert_int_equal(got.state, SOURCE_END);
        assert_int_equal(got.n, 2);
        assert_true(got.frames[0].time_ns ==
                    INT64_C(1764417600000000000) + 123456 * (ns ? 1 : 1000));
        assert_true(got.frames[1].time_ns == INT64_C(1764417601000000000));
        assert_int_equal(got.frames[0].n, 60);
        assert_int_equal(got.frames[0].wire_n, 60);
        assert_int_equal(got.frames[0].link, LINK_ETHERNET);
        assert_int_equal(got.first[0], 'x');
        assert_int_equal(got.stats.frames, 2);
        assert_int_equal(got.stats.frame_bytes, 110);
        assert_string_equal(got.why, "");
    }
    assert_int_equal(strncmp(got.label, "file:assay-test-source-", 23), 0);
}

/* A burst keeps 32 KiB; what is longer goes alone, in its place. */
static void keeps_the_order_around_a_long_frame(void **state)
{
    static const uint32_t n[] = {60, 40000, 61};

    (void)state;
    put_head(MAGIC_US, false, 65535, ETHERNET);
    for (uint32_t i = 0; i < 3; i++) {
        put_packet(1764417600 + i, 0, n[i], n[i]);
        file.p[file.n - n[i]] = (uint8_t)('a' + i);
    }
    assert_int_equal(read_file(NULL), 0);
    assert_int_equal(got.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(got.frames[i].n, n[i]);
        assert_int_equal(got.first[i], 'a' + i);
    }
}

static void put_interface(uint16_t link, uint8_t resolution)
{
    put(1, 4); /* interface description */
    put(32, 4);
    put(link, 2);
    put(0, 2);
    put(65535, 4);
    put(9, 2); /* if_tsresol */
    put(1, 2);
    put(resolution, 1);
    put(0, 3);
    put(0, 4);
    put(32, 4);
}

static void put_section(bool big)
{
    file.n = 0;
    file.big = big;
    put(0x0a0d0d0a, 4);
    put(28, 4);
    put(0x1a2b3c4d, 4);
    put(1, 2);
    put(0, 2);
    put(UINT64_MAX, 8);
    put(28, 4);
}

static void put_enhanced(uint32_t interface, uint64_t stamp)
{
    put(6, 4);
    put(36, 4);
    put(interface, 4);
    put(stamp >> 32, 4);
    put(stamp & UINT32_MAX, 4);
    put(4, 4);
    put(4, 4);
    put(0x78787878, 4);
    put(36, 4);
}

static void reads_pcapng_of_any_resolution(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        put_section(big);
        put_interface(ETHERNET, 6);
        put_interface(ETHERNET, 9);
        put_enhanced(0, UINT64_C(1764417600123456));
        put_enhanced(1, UINT64_C(1764417600123456789));
        put_enhanced(0, UINT64_C(5000000000000000)); /* the year 2128 */
        assert_int_equal(read_file(NULL), 0);
        assert_int_equal(got.state, SOURCE_END);
        assert_int_equal(got.n, 3);
        assert_true(got.frames[0].time_ns == INT64_C(1764417600123456000));
        assert_true(got.frames[1].time_ns == INT64_C(1764417600123456789));
        assert_true(got.frames[2].time_ns == INT64_C(5000000000000000000));
    }
}

static void pcapng_of_several_link_types_is_a_clear_error(void **state)
{
    (void)state;
    put_section(false);
    put_interface(ETHERNET, 6);
    put_enhanced(0, 1);
    put_interface(113, 6); /* Linux cooked */
    put_enhanced(1, 2);
    assert_int_equal(read_file(NULL), 0);
    assert_int_equal(got.state, SOURCE_ERROR);
    assert_int_equal(got.n, 1); /* what came before stands */
    assert_non_null(strstr(got.why, path));
    assert_non_null(strstr(got.why, "type 113"));
}

static void stamps_past_2038_are_unsigned(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        put_head(MAGIC_US, big, 65535, ETHERNET);
        put_packet(UINT32_C(4000000000), 5, 4, 4);
        assert_int_equal(read_file(NULL), 0);
        assert_true(got.frames[0].time_ns == INT64_C(4000000000000005000));
    }
}

static void frames_cut_by_the_capture_length_are_counted(void **state)
{
    (void)state;
    put_head(MAGIC_US, false, 64, ETHERNET);
    put_packet(1, 0, 64, 1514);
    put_packet(2, 0, 60, 60);
    assert_int_equal(read_file(NULL), 0);
    assert_int_equal(got.frames[0].n, 64);
    assert_int_equal(got.frames[0].wire_n, 1514);
    assert_int_equal(got.stats.cut_frames, 1);
}

/* Cut at every byte: frames that are whole stand, the loss is recorded. */
static void a_file_that_ends_within_a_packet_has_lost_it(void **state)
{
    size_t whole, end;

    (void)state;
    put_head(MAGIC_US, false, 65535, ETHERNET);
    put_packet(1, 0, 20, 20);
    whole = file.n;
    put_packet(2, 0, 20, 20);
    end = file.n;
    for (file.n = whole; file.n < end; file.n++) {
        assert_int_equal(read_file(NULL), 0);
        assert_int_equal(got.state, SOURCE_END);
        assert_int_equal(got.n, 1);
        assert_int_equal(got.stats.truncated_files, file.n > whole);
        assert_int_equal(got.why[0] != '\0', file.n > whole);
    }
}

static void a_file_that_goes_on_as_garbage_is_an_error(void **state)
{
    (void)state;
    put_head(MAGIC_US, false, 65535, ETHERNET);
    put_packet(1, 0, 20, 20);
    put_packet(2, 0, 20, 20);
    memset(file.p + 24 + 36 + 8, 0xff, 8); /* lengths of the second */
    assert_int_equal(read_file(NULL), 0);
    assert_int_equal(got.state, SOURCE_ERROR);
    assert_int_equal(got.n, 1);
    assert_int_equal(got.stats.truncated_files, 1);
    assert_non_null(strstr(got.why, path));
}

static void what_is_no_capture_is_refused_by_name(void **state)
{
    (void)state;
    file.n = 0;
    assert_int_equal(read_file(NULL), -EINVAL);
    assert_non_null(strstr(got.why, path));
    put(UINT64_C(0x6567616261677361), 8);
    assert_int_equal(read_file(NULL), -EINVAL);
    assert_non_null(strstr(got.why, "not a capture file"));
    assert_int_equal(read_named("/nonexistent/x.pcap", NULL), -ENOENT);
    assert_non_null(strstr(got.why, "/nonexistent/x.pcap"));
    assert_int_equal(read_named("/tmp", NULL), -EINVAL);
}

static void link_types_are_known_or_named(void **state)
{
    static const struct {
        uint32_t file;
        enum link_type link;
    } known[] = {{0, LINK_NULL},     {1, LINK_ETHERNET}, {101, LINK_RAW_IP},
                 {108, LINK_NULL},   {113, LINK_SLL},    {228, LINK_RAW_IP},
                 {229, LINK_RAW_IP}, {276, LINK_SLL2}};

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        put_head(MAGIC_US, false, 65535, known[i].file);
        put_packet(1, 0, 20, 20);
        assert_int_equal(read_file(NULL), 0);
        assert_int_equal(got.frames[0].link, known[i].link);
    }
    put_head(MAGIC_US, false, 65535, 105);
    assert_int_equal(read_file(NULL), -EINVAL);
    assert_non_null(strstr(got.why, "IEEE802_11"));
}

static void a_filter_is_applied_and_a_wrong_one_refused(void **state)
{
    (void)state;
    put_head(MAGIC_US, false, 65535, ETHERNET);
    put_packet(1, 0, 20, 20);
    put_packet(2, 0, 100, 100);
    assert_int_equal(read_file("greater 60"), 0);
    assert_int_equal(got.n, 1);
    assert_int_equal(got.frames[0].n, 100);
    assert_int_equal(read_file("grater 60"), -EINVAL);
    assert_non_null(strstr(got.why, "grater 60"));
}

static void a_source_needs_a_known_back_end_and_one_origin(void **state)
{
    struct source_config c = {0};
    struct source *s;
    char why[100];

    (void)state;
    assert_int_equal(source_open("nothing", &c, why, sizeof(why), &s), -ENOENT);
    assert_non_null(strstr(why, "nothing"));
    assert_int_equal(source_open("pcap", &c, why, sizeof(why), &s), -EINVAL);
    c.file = c.interface = "x";
    assert_int_equal(source_open("pcap", &c, why, sizeof(why), &s), -EINVAL);
    c.file = NULL;
    c.interface = "nonexistent0";
    c.snaplen = 65535;
    c.buffer_bytes = 1 << 21;
    assert_true(source_open("pcap", &c, why, sizeof(why), &s) < 0);
    assert_non_null(strstr(why, "nonexistent0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_units_in_both_byte_orders),
        cmocka_unit_test(keeps_the_order_around_a_long_frame),
        cmocka_unit_test(reads_pcapng_of_any_resolution),
        cmocka_unit_test(pcapng_of_several_link_types_is_a_clear_error),
        cmocka_unit_test(stamps_past_2038_are_unsigned),
        cmocka_unit_test(frames_cut_by_the_capture_length_are_counted),
        cmocka_unit_test(a_file_that_ends_within_a_packet_has_lost_it),
        cmocka_unit_test(a_file_that_goes_on_as_garbage_is_an_error),
        cmocka_unit_test(what_is_no_capture_is_refused_by_name),
        cmocka_unit_test(link_types_are_known_or_named),
        cmocka_unit_test(a_filter_is_applied_and_a_wrong_one_refused),
        cmocka_unit_test(a_source_needs_a_known_back_end_and_one_origin),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
