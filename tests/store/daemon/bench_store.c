/*
 * bench_store.c - what assay-store takes: leaves a second, durably appended
 * and acknowledged, and payload bytes a second of its CPU time. Comes in: the
 * path of assay-store. Goes out: lines "key value unit".
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon_run.h"
#include "store/client.h"

enum { WINDOW = 4096 }; /* records not yet acknowledged */

struct measure {
    double wall_s, cpu_s;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void take_ack(struct store_client *c)
{
    struct put_ack ack;

    if (store_next_ack(c, -1, &ack) != 0)
        abort();
}

/* Puts n exchanges, each with a request and an answer of these sizes. */
static struct measure put_all(struct daemon_run *d, struct store_client *c,
                              unsigned n, const struct payload payloads[2])
{
    double wall = now_s();
    long long cpu = daemon_cpu_ns(d);
    size_t n_payloads = payloads[0].bytes.n == 0 ? 0 : 2;

    for (unsigned i = 0; i < n; i++) {
        struct record r;
        struct put p = {"exchange", &r, payloads, n_payloads};

        sample_exchange(&r, i);
        while (store_unacked(c) >= WINDOW)
            take_ack(c);
        if (store_send(c, &p, i) != 0)
            abort();
    }
    while (store_unacked(c) != 0)
        take_ack(c);
    wall = now_s() - wall;
    return (struct measure){wall, (double)(daemon_cpu_ns(d) - cpu) / 1e9};
}

static void report_leaves(const char *key, unsigned n, struct measure m)
{
    printf("%s_per_s %.0f 1/s\n", key, n / m.wall_s);
    printf("%s_per_cpu_s %.0f 1/s\n", key, n / m.cpu_s);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[8 << 20];
    struct payload none[2] = {{"req", {NULL, 0}}, {"resp", {NULL, 0}}};
    struct payload small[2] = {{"req", {bytes, 1024}}, {"resp", {bytes, 8192}}};
    struct payload large[2] = {{"req", {bytes, 1024}},
                               {"resp", {bytes, sizeof(bytes)}}};
    struct store_client *c;
    struct daemon_run d;
    struct measure m;

    if (argc != 2) {
        fprintf(stderr, "usage: bench_store ASSAY-STORE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    daemon_make(&d, argv[1], "checkpoint_s = 86400;");
    daemon_start(&d);
    if (store_connect(d.run, "tap", 10000, &c) != 0)
        abort();
    report_leaves("leaves_durable", 100000, put_all(&d, c, 100000, none));
    report_leaves("exchanges_9k_durable", 30000, put_all(&d, c, 30000, small));
    m = put_all(&d, c, 128, large);
    printf("payload_per_cpu_s %.0f MB/s\n",
           128.0 * (sizeof(bytes) + 1024) / 1e6 / m.cpu_s);
    printf("payload_per_s %.0f MB/s\n",
           128.0 * (sizeof(bytes) + 1024) / 1e6 / m.wall_s);
    store_close(c);
    (void)daemon_signal(&d, SIGTERM); /* the figures are out */
    daemon_remove(&d);
    return 0;
}
