/*
 * test_backends.c - libpcap and DPDK give the same streams: every Ethernet
 * file with microsecond stamps among the captures, through both. Comes in:
 * ASSAY_PUBLIC, a directory of public captures, or else ASSAY_RECORDINGS, those
 * of engines.
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
#include <glob.h>

#include "witness.h"

static void assert_same_side(const struct recorded_side *a,
                             const struct recorded_side *b)
{
    assert_int_equal(a->n, b->n);
    if (a->n > 0)
        assert_memory_equal(a->bytes, b->bytes, a->n);
    assert_true(a->next == b->next);
    assert_true(a->gaps == b->gaps);
    assert_true(a->conflicts == b->conflicts);
    assert_true(a->last_ns == b->last_ns);
    assert_true(a->closed == b->closed);
}

static void assert_same(const struct replay *a, const struct replay *b)
{
    assert_true(a->net.frames == b->net.frames);
    assert_true(a->net.segments == b->net.segments);
    assert_int_equal(a->rec.n, b->rec.n);
    for (size_t i = 0; i < a->rec.n; i++) {
        const struct recorded *s = a->rec.streams[i], *t = b->rec.streams[i];

        assert_string_equal(s->info.addr[0], t->info.addr[0]);
        assert_string_equal(s->info.addr[1], t->info.addr[1]);
        assert_int_equal(s->why, t->why);
        assert_same_side(&s->side[0], &t->side[0]);
        assert_same_side(&s->side[1], &t->side[1]);
    }
}

/* net_pcap cannot carry frames over 64 KiB (source_dpdk.c says how it cuts
 * them); no Ethernet without offload has them. */
static bool is_big(const struct replay *r)
{
    return r->source.cut_frames > 0 && r->net.frames == 1;
}

/* A pcap file of Ethernet frames with microseconds, either byte order. */
static bool is_microsecond_ethernet(const char *path)
{
    static const uint8_t little[4] = {0xd4, 0xc3, 0xb2, 0xa1};
    static const uint8_t big[4] = {0xa1, 0xb2, 0xc3, 0xd4};
    uint8_t head[24];
    FILE *f = fopen(path, "rb");
    size_t n;

    assert_non_null(f);
    n = fread(head, 1, sizeof(head), f);
    assert_int_equal(fclose(f), 0);
    if (n < sizeof(head))
        return false;
    return (memcmp(head, little, 4) == 0 && head[20] == 1) ||
           (memcmp(head, big, 4) == 0 && head[23] == 1);
}

/* Files below the directory that the environment names. */
static size_t compare_all(const char *name, const char *pattern)
{
    const char *dir = getenv(name);
    char path[4096];
    size_t n = 0;
    glob_t g;

    assert_non_null(dir);
    (void)snprintf(path, sizeof(path), "%s/%s", dir, pattern);
    assert_int_equal(glob(path, 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct replay a, b;

        if (!is_microsecond_ethernet(g.gl_pathv[i]))
            continue;
        assert_int_equal(replay_file("pcap", g.gl_pathv[i], &a), 0);
        if (replay_file("dpdk", g.gl_pathv[i], &b) != 0)
            fail_msg("%s", b.why);
        if (!is_big(&b))
            assert_same(&a, &b);
        replay_fini(&a);
        replay_fini(&b);
        n++;
    }
    globfree(&g);
    return n;
}

static void both_give_the_same_public_streams(void **state)
{
    (void)state;
    assert_true(compare_all("ASSAY_PUBLIC", "*/*.pcap") > 80);
}

static void both_give_the_same_engine_streams(void **state)
{
    (void)state;
    assert_true(compare_all("ASSAY_RECORDINGS", "*/*/capture.pcap") > 10);
}

static void dpdk_refuses_what_is_not_ethernet(void **state)
{
    char path[4096];
    struct replay r;

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/pcapplusplus/raw_ip.pcap",
                   getenv("ASSAY_PUBLIC"));
    assert_int_equal(replay_file("dpdk", path, &r), -EINVAL);
    assert_non_null(strstr(r.why, "not Ethernet"));
}

/* A file of no frame, of raw IP. */
static void dpdk_refuses_by_the_link_type_alone(void **state)
{
    static const uint8_t head[24] = {0xd4, 0xc3, 0xb2, 0xa1,     2,
                                     0,    4,    0,    [18] = 4, [20] = 101};
    char path[] = "/tmp/assay-backends-XXXXXX";
    int fd = mkstemp(path);
    struct replay r;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
    assert_int_equal(replay_file("dpdk", path, &r), -EINVAL);
    assert_non_null(strstr(r.why, "not Ethernet"));
    assert_int_equal(close(fd) | unlink(path), 0);
    assert_int_equal(replay_file("dpdk", "/nonexistent.pcap", &r), -ENOENT);
    assert_non_null(strstr(r.why, "/nonexistent.pcap"));
}

int main(void)
{
    const struct CMUnitTest public[] = {
        cmocka_unit_test(both_give_the_same_public_streams),
        cmocka_unit_test(dpdk_refuses_what_is_not_ethernet),
    };
    const struct CMUnitTest recordings[] = {
        cmocka_unit_test(both_give_the_same_engine_streams),
        cmocka_unit_test(dpdk_refuses_by_the_link_type_alone),
    };

    if (getenv("ASSAY_PUBLIC") != NULL)
        return cmocka_run_group_tests(public, NULL, NULL);
    return cmocka_run_group_tests(recordings, NULL, NULL);
}
