/*
 * worker_main.c - assay-recompute: settings, then the worker's loop or one
 * command.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "config/settings.h"
#include "job/worker.h"

volatile sig_atomic_t worker_stop;

static const struct option options[] = {
    {"once", no_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct call {
    const char *settings_path;
    bool once, check_only;
    int verbose;
};

static int usage(FILE *out)
{
    fputs("usage: assay-recompute [-nv] [-c FILE] [--once]\n"
          "       assay-recompute [-v] [-c FILE] register NAME DIR [ENGINE]\n"
          "       assay-recompute [-v] [-c FILE] replay FILE [--against DIR]\n"
          "           [--repeat N] [--trace]\n",
          out);
    return EXIT_USAGE;
}

static void on_signal(int signal)
{
    (void)signal; /* both mean the same */
    worker_stop = 1;
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};

    (void)sigaction(SIGTERM, &stop, NULL); /* cannot fail for these three */
    (void)sigaction(SIGINT, &stop, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static int run(const struct call *call, int argc, char **argv)
{
    bool replay = argc > 0 && strcmp(argv[0], "replay") == 0;
    struct settings *s = NULL;
    int err = 0, rc;

    /* A packet is replayed on machines that have no settings. */
    if (!replay || call->settings_path != NULL ||
        access(SETTINGS_PATH, F_OK) == 0)
        err = settings_load(call->settings_path, stderr, &s);
    if (err != 0) {
        errno = -err;
        if (err != -EINVAL)
            log_warn("cannot read settings");
        return EXIT_SETTINGS;
    }
    if (call->check_only)
        rc = EXIT_GOOD;
    else if (argc == 0)
        rc = worker_run(s, call->once);
    else if (replay)
        rc = worker_replay(s, argc, argv);
    else if (strcmp(argv[0], "register") == 0)
        rc = worker_register(s, argc, argv);
    else
        rc = EXIT_USAGE;
    settings_close(s);
    return rc == EXIT_USAGE ? usage(stderr) : rc;
}

int main(int argc, char **argv)
{
    struct call call = {0};
    int opt;

    while ((opt = getopt_long(argc, argv, "+c:nvh", options, NULL)) != -1) {
        switch (opt) {
        case 'c':
            call.settings_path = optarg;
            break;
        case 'n':
            call.check_only = true;
            break;
        case 'v':
            call.verbose++;
            break;
        case 'o':
            call.once = true;
            break;
        case 'V':
            return printf("assay-recompute %s\n", ASSAY_VERSION) > 0 ? 0 : 4;
        case 'h':
            (void)usage(stdout); /* asked for: no error */
            return EXIT_GOOD;
        default:
            return usage(stderr);
        }
    }
    log_init("assay-recompute", call.verbose);
    catch_signals();
    return run(&call, argc - optind, argv + optind);
}
