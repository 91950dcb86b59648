/*
 * main.c - assay-tap: captures live, or plays the capture files given, and
 * records what it saw in assay-store.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "feed/listener.h"

enum { CONNECT_MS = 10000, FINISH_MS = 30000, FILES_MAX = 512 };

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
    (void)sig;
    stop = 1;
}

static void usage(void)
{
    fputs("usage: assay-tap [-hnv] [-c file] [capture ...]\n", stderr);
}

static struct source *open_source(const struct settings *s, const char *file)
{
    struct source_config c = {
        .interface = file == NULL ? settings_str(s, "tap.interface") : NULL,
        .file = file,
        .filter = settings_str(s, "tap.filter"),
        .snaplen = (uint32_t)settings_int(s, "tap.snaplen"),
        .buffer_bytes = (uint64_t)settings_int(s, "tap.buffer_mib") << 20,
        .eal = settings_str(s, "tap.eal"),
        .idle_end_ns = 1000000000};
    struct source *src = NULL;
    char why[512];

    if (file == NULL && c.interface[0] == '\0')
        fatalx(EXIT_SETTINGS, "tap.interface is not set");
    if (source_open(settings_str(s, "tap.source"), &c, why, sizeof why, &src) !=
        0)
        fatalx(EXIT_IO, "%s", why);
    return src;
}

static struct uplink *open_uplink(const struct settings *s, bool live)
{
    const char *where = settings_str(s, "tap.feed_listen");
    struct uplink_config c = {
        .run_dir = settings_str(s, "store.run_dir"),
        .tap = settings_str(s, "tap.name"),
        .body_max = (size_t)settings_int(s, "tap.message_max_mib") << 20,
        .queue_max = (size_t)settings_int(s, "tap.exchanges"),
        .alone = (unsigned)settings_int(s, "tap.samples"),
        .listen_fd = -1,
        .connect_ms = live ? -1 : CONNECT_MS};
    struct uplink *u = NULL;
    int err =
        live && where[0] != '\0' ? listener_socket(where, &c.listen_fd) : 0;

    if (err != 0)
        fatalx(EXIT_IO, "cannot listen on \"%s\": %s", where, strerror(-err));
    err = uplink_open(&c, &u);
    if (err != 0)
        fatalx(EXIT_IO, "the store's queue: %s", strerror(-err));
    return u;
}

static void give_up_rights(const struct settings *s)
{
    if (sandbox_enter(settings_str(s, "tap.user"),
                      SANDBOX_UNIX | SANDBOX_THREADS | SANDBOX_INET) != 0)
        fatalx(EXIT_NOT_PERMITTED, "cannot give up rights");
}

static void start_uplink(const struct settings *s, struct uplink *u)
{
    int err = uplink_start(u);

    if (err != 0)
        fatalx(EXIT_IO, "no store at \"%s\": %s",
               settings_str(s, "store.run_dir"), strerror(-err));
}

/* Waits for what is on its way; how it all went. */
static int finish(struct uplink *u, const struct capture *c, bool good,
                  bool live)
{
    bool durable = uplink_finish(u, FINISH_MS);

    log_info("ended lost=%llu", (unsigned long long)capture_lost(c));
    if (uplink_turned_away(u))
        return EXIT_NOT_PERMITTED;
    if (!durable)
        return EXIT_IO;
    return live || (good && capture_lost(c) == 0) ? EXIT_GOOD : EXIT_BAD;
}

struct options {
    const char *settings;
    bool check;
    int verbose;
};

/* Returns -1, or the exit code to end with. */
static int options_read(int argc, char **argv, struct options *o)
{
    int opt;

    while ((opt = getopt(argc, argv, "c:hnv")) != -1) {
        switch (opt) {
        case 'c':
            o->settings = optarg;
            break;
        case 'n':
            o->check = true;
            break;
        case 'v':
            o->verbose++;
            break;
        default:
            usage();
            return opt == 'h' ? EXIT_GOOD : EXIT_USAGE;
        }
    }
    return -1;
}

static bool run(struct capture *c, struct source *src)
{
    enum source_state st = capture_run(c, src, &stop);
    struct source_stats stats;

    source_stats(src, &stats);
    if (st == SOURCE_ERROR || stats.truncated_files > 0)
        log_warnx("%s: %s", source_label(src), source_why(src));
    return st != SOURCE_ERROR && stats.truncated_files == 0;
}

int main(int argc, char **argv)
{
    struct options o = {NULL, false, 0};
    struct source *src[FILES_MAX] = {NULL};
    struct settings *s;
    struct capture *c;
    struct uplink *u;
    bool live, good = true;
    int code = options_read(argc, argv, &o), n;

    if (code >= 0)
        return code;
    log_init("assay-tap", o.verbose);
    /* A second arena of malloc looks into /proc, which the sandbox kills. */
    (void)mallopt(M_ARENA_MAX, 1);
    if (settings_load(o.settings, stderr, &s) != 0)
        return EXIT_SETTINGS;
    if (o.check)
        return EXIT_GOOD;
    live = optind == argc;
    n = live ? 1 : argc - optind;
    if (n > FILES_MAX)
        fatalx(EXIT_USAGE, "more than %d files", FILES_MAX);
    for (int i = 0; i < n; i++)
        src[i] = open_source(s, live ? NULL : argv[optind + i]);
    u = open_uplink(s, live);
    if (capture_open(s, live, u, &c) != 0)
        fatalx(EXIT_IO, "not enough memory for the pools");
    json_object_seed(0); /* reads /dev/urandom, while that can be opened */
    (void)signal(SIGTERM, on_signal); /* these cannot fail */
    (void)signal(SIGINT, on_signal);
    give_up_rights(s);
    if (live)
        capture_begin(c, src[0]);
    start_uplink(s, u);
    log_info("started source=\"%s\"", source_label(src[0]));
    for (int i = 0; i < n && !stop; i++)
        good = run(c, src[i]) && good;
    code = finish(u, c, good, live);
    uplink_close(u);
    capture_close(c);
    for (int i = 0; i < n; i++)
        source_close(src[i]);
    settings_close(s);
    return code;
}
