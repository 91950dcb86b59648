/*
 * test_live.c - frames from an interface: loopback in a network namespace of
 * its own, which needs root. A connection is made and captured.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "witness.h"

enum { PORT = 8000, BYTES = 300000, WAIT_MS = 120000 };

static struct witness rec;
static struct net *net;
static struct source *source;

/* A namespace where nothing but us speaks. */
static int own_network(void **state)
{
    struct ifreq req = {.ifr_name = "lo"};
    int fd;

    (void)state;
    if (unshare(CLONE_NEWNET) != 0)
        return -1;
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &req) != 0)
        return -1;
    req.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &req) != 0 ? -1 : close(fd);
}

static void start(const char *interface, const char *filter)
{
    struct source_config c = {.interface = interface,
                              .filter = filter,
                              .snaplen = 262144,
                              .buffer_bytes = 32 << 20};
    struct net_config nc = replay_config();
    char why[300];

    witness_init(&rec);
    assert_int_equal(net_open(&nc, &rec.handler, &net), 0);
    if (source_open("pcap", &c, why, sizeof(why), &source) != 0)
        fail_msg("%s", why);
    assert_true(source_fd(source) >= 0);
    assert_int_equal(source_read(source, 64, net_frames, net), SOURCE_IDLE);
}

/* What the ring holds. */
static void read_on(void)
{
    enum source_state state;

    do
        state = source_read(source, 64, net_frames, net);
    while (state == SOURCE_MORE);
    assert_int_equal(state, SOURCE_IDLE);
}

static bool both_closed(void)
{
    return rec.n == 1 && rec.streams[0]->side[SIDE_CLIENT].closed &&
           rec.streams[0]->side[SIDE_SERVER].closed;
}

/* Reads until both sides of the one connection have closed. */
static void finish(void)
{
    struct pollfd fd = {source_fd(source), POLLIN, 0};

    for (read_on(); !both_closed(); read_on())
        if (poll(&fd, 1, WAIT_MS) == 0)
            fail_msg("the connection's end did not come");
    net_flush(net);
}

static void stop(void)
{
    source_close(source);
    net_close(net);
    witness_fini(&rec);
}

static void say(int fd, const uint8_t *p, size_t n)
{
    assert_int_equal(send(fd, p, n, 0), n);
}

static void hear(int fd, uint8_t *p, size_t n)
{
    assert_int_equal(recv(fd, p, n, MSG_WAITALL), n);
}

/* Client sends p, server sends it back, both close. */
static void talk(uint8_t *p, size_t n)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, a, b;

    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
    assert_int_equal(listen(listener, 1), 0);
    a = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(a, (struct sockaddr *)&addr, sizeof(addr)), 0);
    b = accept(listener, NULL, NULL);
    assert_true(b >= 0);
    for (size_t at = 0; at < n; at += 30000) {
        size_t part = n - at < 30000 ? n - at : 30000;

        say(a, p + at, part);
        hear(b, p + at, part);
        say(b, p + at, part);
        hear(a, p + at, part);
    }
    assert_int_equal(close(a) | close(b) | close(listener), 0);
}

static void captures_a_connection_byte_for_byte(void **state)
{
    static uint8_t bytes[BYTES];
    struct source_stats st;
    struct net_counters nc;

    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 ^ i >> 8);
    start("lo", "");
    talk(bytes, BYTES);
    finish();
    source_stats(source, &st);
    net_counters(net, &nc);
    assert_accounted(&nc, net_stream_counters(net));
    assert_int_equal(st.ring_drops, 0);
    assert_int_equal(st.cut_frames, 0);
    assert_int_equal(st.frames, nc.frames);
    assert_int_equal(rec.n, 1);
    assert_string_equal(rec.streams[0]->info.addr[SIDE_SERVER],
                        "127.0.0.1:8000");
    for (int side = 0; side < SIDES; side++) {
        assert_int_equal(rec.streams[0]->side[side].n, BYTES);
        assert_memory_equal(rec.streams[0]->side[side].bytes, bytes, BYTES);
        assert_int_equal(rec.streams[0]->side[side].gaps, 0);
    }
    assert_string_equal(source_label(source), "live:lo");
    stop();
}

static void all_interfaces_are_captured_as_any(void **state)
{
    uint8_t bytes[] = "through the cooked header";

    (void)state;
    start("any", "tcp port 8000");
    talk(bytes, sizeof(bytes));
    finish();
    assert_int_equal(rec.n, 1);
    assert_int_equal(rec.streams[0]->side[SIDE_CLIENT].n, sizeof(bytes));
    assert_int_equal(rec.streams[0]->side[SIDE_SERVER].n, sizeof(bytes));
    stop();
}

/* Nobody reads while more comes than the ring holds: that is told. */
static void drops_of_the_ring_are_counted(void **state)
{
    static uint8_t bytes[BYTES];
    struct source_config c = {
        .interface = "lo", .snaplen = 262144, .buffer_bytes = 1 << 20};
    struct net_config nc = replay_config();
    struct source_stats st;
    char why[300];

    (void)state;
    witness_init(&rec);
    assert_int_equal(net_open(&nc, &rec.handler, &net), 0);
    assert_int_equal(source_open("pcap", &c, why, sizeof(why), &source), 0);
    for (int i = 0; i < 30; i++)
        talk(bytes, BYTES);
    read_on();
    net_flush(net);
    source_stats(source, &st);
    assert_true(st.ring_drops > 0);
    source_stats(source, &st); /* totals, not differences */
    assert_true(st.ring_drops > 0);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_a_connection_byte_for_byte),
        cmocka_unit_test(all_interfaces_are_captured_as_any),
        cmocka_unit_test(drops_of_the_ring_are_counted),
    };

    return cmocka_run_group_tests(tests, own_network, NULL);
}
