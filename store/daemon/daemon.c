/*
 * daemon.c - assay-store, the only writer of the record. Comes in: settings,
 * and records over its sockets. Goes out: the state directory (layout.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "daemon/prepare.h"
#include "daemon/server.h"
#include "store/layout.h"
#include "store/sha256.h"

static volatile sig_atomic_t stop;

struct options {
    const char *path; /* of the settings */
    bool check;       /* -n: settings only */
    bool rebuild;
    int verbose;
};

static void usage(FILE *out)
{
    fputs("usage: assay-store [-nvh] [-c FILE] [--rebuild]\n"
          "  -c FILE     settings (" SETTINGS_PATH ")\n"
          "  -n          check the settings and exit\n"
          "  --rebuild   make the index again from log and vault, and exit\n"
          "  -v          more log lines\n",
          out);
}

static struct options parse_options(int argc, char **argv)
{
    static const struct option words[] = {{"rebuild", no_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct options o = {0};
    int c;

    while ((c = getopt_long(argc, argv, "c:nvh", words, NULL)) != -1)
        switch (c) {
        case 'c':
            o.path = optarg;
            break;
        case 'n':
            o.check = true;
            break;
        case 'r':
            o.rebuild = true;
            break;
        case 'v':
            o.verbose++;
            break;
        case 'h':
            usage(stdout);
            exit(EXIT_GOOD);
        default:
            usage(stderr);
            exit(EXIT_USAGE);
        }
    if (optind != argc) {
        usage(stderr);
        exit(EXIT_USAGE);
    }
    return o;
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

/* TERM and INT are let in only while the loop waits. */
static void set_signals(sigset_t *ret_mask)
{
    struct sigaction a = {.sa_handler = on_signal};
    sigset_t blocked;

    sigemptyset(&a.sa_mask);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    if (sigprocmask(SIG_BLOCK, &blocked, ret_mask) != 0 ||
        sigaction(SIGTERM, &a, NULL) != 0 || sigaction(SIGINT, &a, NULL) != 0)
        fatal(EXIT_IO, "signals");
    sigdelset(ret_mask, SIGTERM);
    sigdelset(ret_mask, SIGINT);
    signal(SIGPIPE, SIG_IGN);
}

/* What the settings were stands in each boot record. */
static void hash_settings(const char *path, uint8_t ret_hash[SHA256_BYTES])
{
    char *bytes = NULL;
    size_t n = 0;
    int rc =
        file_load(path != NULL ? path : SETTINGS_PATH, 1 << 20, &bytes, &n);

    if (rc != 0)
        fatalx(EXIT_SETTINGS, "settings: %s", strerror(-rc));
    sha256(span_of(bytes, n), ret_hash);
    free(bytes);
}

static int exit_code(int rc)
{
    return rc == -EAGAIN                   ? EXIT_AGAIN
           : rc == -EPERM || rc == -EACCES ? EXIT_NOT_PERMITTED
                                           : EXIT_IO;
}

static void rebuild(const struct ledger_config *config)
{
    struct ledger_start start;
    int rc = ledger_rebuild(config, &start);

    if (rc != 0)
        fatalx(exit_code(rc), "%s", start.why);
    log_info("index made again payloads_lost=%" PRIu64, start.lost);
}

static struct ledger *open_ledger(const struct ledger_config *config)
{
    struct ledger_start start;
    struct ledger *l;
    int rc = ledger_open(config, &l, &start);

    if (rc != 0)
        fatalx(exit_code(rc), "%s", start.why);
    if (start.cut_bytes != 0)
        log_warnx("an unacknowledged tail was cut bytes=%" PRIu64,
                  start.cut_bytes);
    if (start.lost != 0)
        log_warnx("payloads are missing from the vault count=%" PRIu64,
                  start.lost);
    log_info("started leaves=%" PRIu64 " born=%d", ledger_indexed(l),
             start.born);
    return l;
}

/* The daemon's life from the first record to the last. */
static int serve(const struct settings *s, const struct owners *o,
                 const struct ledger_config *config)
{
    struct server_config sockets = {
        .run_dir = settings_str(s, "store.run_dir"),
        .checkpoint_s = settings_int(s, "store.checkpoint_s"),
    };
    struct jobs_config modes = {
        .forced = strcmp(settings_str(s, "store.job_mode"), "forced") == 0,
        .forced_percent = (unsigned)settings_int(s, "store.job_forced_percent"),
        .runs = (uint32_t)settings_int(s, "store.job_runs"),
    };
    struct ledger *ledger = open_ledger(config);
    struct server *server = NULL;
    struct jobs *jobs = NULL;
    sigset_t mask;
    int rc = jobs_open(ledger, &modes, &jobs);

    for (size_t i = 0; i < ROLES; i++)
        sockets.uid[i] = o->role[i].uid;
    set_signals(&mask);
    if (rc == 0)
        rc = server_open(&sockets, ledger, jobs, &server);
    if (rc != 0)
        log_warnx("sockets: %s", strerror(-rc));
    else
        rc = server_run(server, &stop, &mask);
    if (rc == -ENOTRECOVERABLE)
        log_warnx("a sync failed: what is on the disk is not known; stopped");
    server_close(server);
    jobs_close(jobs);
    ledger_close(ledger, rc == 0);
    log_info("stopped clean=%d", rc == 0);
    return rc == 0 ? EXIT_GOOD : EXIT_IO;
}

int main(int argc, char **argv)
{
    struct options o = parse_options(argc, argv);
    struct ledger_config config = {0};
    struct settings *settings;
    struct owners owners;
    struct keys keys;
    const char *what;
    int rc;

    log_init("assay-store", o.verbose);
    if (settings_load(o.path, stderr, &settings) != 0)
        return EXIT_SETTINGS;
    if (o.check)
        return EXIT_GOOD;
    if (o.rebuild && !ledger_born(settings_str(settings, "store.state_dir")))
        fatalx(EXIT_IO, "no log state_dir=%s",
               settings_str(settings, "store.state_dir"));
    (void)umask(027); /* gives the old one */
    if (owners_find(settings, &owners, &what) != 0)
        fatalx(EXIT_SETTINGS, "%s: no such user", what);
    rc = prepare(settings, &owners, &keys, &what);
    if (rc != 0)
        fatalx(exit_code(rc), "%s: %s", what, strerror(-rc));
    hash_settings(o.path, config.settings_hash);
    config.state_dir = settings_str(settings, "store.state_dir");
    config.origin = settings_str(settings, "origin");
    config.keys = &keys;
    rc = sandbox_enter(settings_str(settings, "store.user"),
                       SANDBOX_READ_FILES | SANDBOX_WRITE_FILES | SANDBOX_UNIX);
    if (rc != 0)
        fatalx(exit_code(rc), "sandbox: %s", strerror(-rc));
    rc = EXIT_GOOD;
    if (o.rebuild)
        rebuild(&config);
    else
        rc = serve(settings, &owners, &config);
    OPENSSL_cleanse(&keys, sizeof(keys));
    settings_close(settings);
    return rc;
}
