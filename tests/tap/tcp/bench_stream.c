/*
 * bench_stream.c - CPU time of the tap's lower half over a capture file.
 * Usage: bench_stream FILE [BACKEND]. Prints one line each for reading alone,
 * reading and decoding, and the whole way to the stream's bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <time.h>

#include "config/settings.h"
#include "net/link.h"
#include "net/net.h"

struct tally {
    uint64_t frames, bytes, segments;
};

static double cpu_s(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void only_count(void *ctx, const struct frame *f, size_t n)
{
    struct tally *t = ctx;

    t->frames += n;
    for (size_t i = 0; i < n; i++)
        t->bytes += f[i].n;
}

static void only_decode(void *ctx, const struct frame *f, size_t n)
{
    static struct packet p;
    struct tally *t = ctx;

    only_count(ctx, f, n);
    for (size_t i = 0; i < n; i++)
        t->segments += packet_decode(&f[i], &p) == PACKET_SEGMENT;
}

static void *count_open(void *ctx, const struct stream_info *info)
{
    (void)info;
    return ctx;
}

static void count_data(void *user, enum side side, const struct stream_piece *p)
{
    struct tally *t = user;

    t->bytes += p->bytes.n;
    t->segments += side == SIDE_SERVER;
}

/* Reads the file once; 0, or an exit code. */
static int pass(const char *name, const char *backend, const char *file,
                frames_fn fn, void *ctx)
{
    struct source_config c = {.file = file, .idle_end_ns = 500000000};
    struct source_stats st;
    struct source *s;
    char why[300];
    double t;

    if (source_open(backend, &c, why, sizeof(why), &s) != 0) {
        fprintf(stderr, "bench_stream: %s\n", why);
        return 4;
    }
    t = cpu_s();
    for (;;) {
        enum source_state state = source_read(s, 256, fn, ctx);

        if (state == SOURCE_END || state == SOURCE_ERROR)
            break;
    }
    t = cpu_s() - t;
    source_stats(s, &st);
    printf("%s: frames=%llu bytes=%llu cpu_s=%.3f ns_per_frame=%.1f\n", name,
           (unsigned long long)st.frames, (unsigned long long)st.frame_bytes, t,
           st.frames != 0 ? t * 1e9 / (double)st.frames : 0);
    source_close(s);
    return 0;
}

int main(int argc, char **argv)
{
    const char *backend = argc > 2 ? argv[2] : "pcap";
    struct tally read = {0}, decode = {0}, bytes = {0};
    struct stream_handler h = {
        .open = count_open, .data = count_data, .ctx = &bytes};
    struct net_config nc;
    struct settings *settings;
    struct net *net;
    int rc;

    if (argc < 2 || settings_load("/dev/null", stderr, &settings) != 0)
        return 2;
    net_config_read(settings, &nc);
    settings_close(settings);
    if (net_open(&nc, &h, &net) != 0)
        return 4;
    rc = pass("stream", backend, argv[1], net_frames, net);
    if (rc == 0)
        rc = pass("read", backend, argv[1], only_count, &read);
    if (rc == 0)
        rc = pass("decode", backend, argv[1], only_decode, &decode);
    printf("delivered=%llu\n", (unsigned long long)bytes.bytes);
    net_close(net);
    return rc;
}
